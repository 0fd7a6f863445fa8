"""Training the generator and the discriminator of replaced token detection together gives a better model than training
one after the other."""

from playground.claims import Arm, Claim, higher

K093 = Claim(
    title="Both networks of RTD at once",
    source="Weng, ELECTRA; Clark et al., arXiv:2003.10555, sec. 3.2; Qiu et al., sec. 3.1.5, has two stages",
    prediction="Fine-tuned for sentiment, the model of joint training is more accurate than that of two stages.",
    otherwise="Two stages are as good or better.",
    common=Arm("RTD", corpus="world", steps=200, task="sentiment", figure="accuracy"),
    arms={
        "joint": {"settings": "generator_ratio=1, generator_first=0"},
        "two stages": {"settings": "generator_ratio=1, generator_first=0.5"},
    },
    rules=(higher("joint", "two stages"),),
    unit="accuracy",
    seeds=4,
    scale="200 steps in all, half of them for each stage, and a generator as wide as the model. Adversarial training "
    "is not here, nor a model that shares no embeddings, so these parts of the claim are left out.",
)
