"""A model that was pre-trained on pairs does better at aspect sentiment as a task of sentence pairs."""

from playground.claims import Arm, Claim, higher

K151 = Claim(
    title="The aspect as a second sentence",
    source="Qiu et al., sec. 7.3; Sun et al., arXiv:1903.09588",
    prediction="With the aspect as a second text the accuracy is higher.",
    otherwise="A classifier for each aspect is as good.",
    common=Arm(
        "MLM + NSP", corpus="world", steps=600, one_model=True, task="aspect", train_size=256, tuning_steps=160,
        figure="accuracy",
    ),
    arms={"pair": {"task": "aspect as a pair"}, "single": {"task": "aspect"}},
    rules=(higher("pair", "single"),),
    unit="accuracy",
    seeds=10,
    scale="256 labelled texts: with 64, seeds 0 and 1 were at chance in both forms, and this budget was chosen on "
    "them. One pre-trained model for all seeds; labelled texts and heads vary.",
)  # fmt: skip
