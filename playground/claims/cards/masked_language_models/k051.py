"""The same masked language model becomes better with more steps, with more text and with larger batches."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher

MORE = {"steps": {"steps": 400}, "text": {"tokens": 80000}, "batch": {"settings": "batch_size=32"}}
"""Four times as many steps, as much text, and rows in a batch."""


def benefit(lab: Lab, arm: Arm, seed: int) -> float:
    """How much lower the loss on unseen text is with four times as much of one thing."""
    less, more = (lab.facts(one, seed)["loss"]["held_out"] for one in (arm, replace(arm, **MORE[arm.figure])))
    assert less is not None
    assert more is not None
    return less - more


K051 = Claim(
    title="BERT was trained too little",
    source="Liu et al., sec. 2.3; Weng, RoBERTa; Qiu et al., sec. 8.1; From Static to Contextualized "
    "Embedding; Liu et al., arXiv:1907.11692",
    prediction="Four times as many steps, as much text, or rows in a batch each lower the loss on unseen text.",
    otherwise="One of the three does not lower it.",
    common=Arm(entry="MLM", corpus="world", tokens=20000, steps=100, settings="batch_size=8"),
    arms={"more steps": {"figure": "steps"}, "more text": {"figure": "text"}, "larger batches": {"figure": "batch"}},
    compute=benefit,
    rules=tuple(higher(arm, 0.0) for arm in ("more steps", "more text", "larger batches")),
    unit="nats",
    scale="From 100 steps of 8 rows on 20,000 tokens. Tiny models are far from trained out, so steps and batches must "
    "help; how much each is worth differs from a large model.",
)
