"""For a fixed number of steps, training a causal language model and then a masked one gives a better encoder than
either alone."""

from playground.claims import Arm, Claim, higher

K222 = Claim(
    title="First causal, then masked",
    source="Gisserot-Boukhlef et al., arXiv:2507.00994, abstract",
    prediction="Fine-tuned on 64 reviews, the model that was trained with both is more accurate than those with one.",
    otherwise="One objective throughout is as accurate or more.",
    common=Arm(corpus="reviews", steps=300, task="sentiment", train_size=64, figure="accuracy"),
    arms={"both": {"entry": "CLM then MLM"}, "masked": {"entry": "MLM at 40 %"}, "causal": {"entry": "LM"}},
    rules=(higher("both", "masked"), higher("both", "causal")),
    unit="accuracy",
    scale="The paper trains networks of 210 million to 1 billion parameters on up to 100 billion tokens. Here a "
    "network of two layers reads 300 batches, and one task stands for its many.",
    also=("attention",),
)
