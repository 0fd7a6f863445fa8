"""Distillation at both stages, pre-training and fine-tuning, makes a better student than at one."""

from playground.claims import Arm, Claim, higher

K185 = Claim(
    title="Distillation in two stages",
    source="Liu et al., sec. 6; Jiao et al., arXiv:1909.10351",
    prediction="With 100 steps on pre-training text and 200 on the task TinyBERT is more accurate than with 300 on the "
    "task.",
    otherwise="The stage on the task alone is as good.",
    common=Arm(
        entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=256,
        figure="accuracy",
    ),
    arms={
        "two stages": {"pipeline": "TinyBERT(text_steps=100, layer_steps=100)"},
        "task alone": {"pipeline": "TinyBERT(text_steps=0, layer_steps=200)"},
    },
    rules=(higher("two stages", "task alone"),),
    unit="accuracy",
    scale="One layer learns from two, and begins with one of them, so that it hardly needs the first stage. Both arms "
    "have 300 steps. One pre-trained teacher for all seeds; its fine-tuning varies.",
)  # fmt: skip
