"""Gradual unfreezing from the top layer down avoids forgetting and is effective."""

from playground.claims import Arm, Claim, Lab, Rule, lower

FULL = Arm(entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", strategy="full")


def over_full(lab: Lab, arm: Arm, seed: int) -> float:
    """A figure of a strategy minus that of full fine-tuning."""
    own, full = lab.tuned(arm, seed), lab.tuned(FULL, seed)
    return getattr(own, arm.figure) - getattr(full, arm.figure)


K133 = Claim(
    title="Gradual unfreezing",
    source="Weng, ULMFiT; Qiu et al., sec. 5.3; Howard and Ruder, arXiv:1801.06146, sec. 3.3",
    prediction="It forgets less than full fine-tuning, and its accuracy is at most 0.02 lower.",
    otherwise="It forgets as much, or pays for it with accuracy.",
    common=Arm(
        entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", strategy="gradual unfreezing"
    ),
    arms={"forgetting": {"figure": "forgetting"}, "accuracy": {"figure": "accuracy"}},
    rules=(lower("forgetting", 0.0), Rule("accuracy", 0.0, -0.02, 1.0)),
    compute=over_full,
    unit="nats, or accuracy",
    seeds=10,
    scale="With 64 labels the accuracy varies more between seeds than between strategies, so a tie is hard to show.",
)
