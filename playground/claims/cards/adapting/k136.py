"""A learning rate that rises quickly and falls slowly improves fine-tuning."""

from playground.claims import Arm, Claim, higher

K136 = Claim(
    title="Slanted triangular learning rates",
    source="Weng, ULMFiT; Howard and Ruder, arXiv:1801.06146, sec. 3.1 and table 6",
    prediction="It is more accurate than a constant rate, and than a slow rise with a quick fall.",
    otherwise="The schedule makes no difference, or the area under it alone does.",
    common=Arm(entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", figure="accuracy"),
    arms={
        "slanted": {"strategy": "slanted triangular rates"},
        "constant": {"strategy": "full"},
        "reversed": {"strategy": "slanted triangular rates(cut_frac=0.9)"},
    },
    rules=(higher("slanted", "constant"), higher("slanted", "reversed")),
    unit="accuracy",
    seeds=10,
    scale="64 labels and 80 steps from one pre-trained model; the differences are near the noise of the labels.",
)
