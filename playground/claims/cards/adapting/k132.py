"""Schedules that freeze some layers while others are trained reduce forgetting."""

from playground.claims import Arm, Claim, lower

OTHERS = ("top layer only", "chain-thaw", "gradual unfreezing", "sequential unfreezing")

K132 = Claim(
    title="Freezing layers reduces forgetting",
    source="Liu et al., sec. 5.2; Long et al. 2015; Felbo et al. 2017; Howard and Ruder, arXiv:1801.06146",
    prediction="Each of four schedules raises the pre-training loss by less than full fine-tuning does.",
    otherwise="One of the schedules forgets as much.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment", figure="forgetting"),
    arms={name: {"strategy": name} for name in ("full", *OTHERS)},
    rules=tuple(lower(name, "full") for name in OTHERS),
    unit="nats",
    scale="Two layers and 80 steps; a schedule that unfreezes everything early resembles full fine-tuning.",
)
