"""A new mask at every visit of a text teaches more than masks that were drawn once and are repeated."""

from playground.claims import Arm, Claim, lower

K044 = Claim(
    title="Static and dynamic masking",
    source="Liu et al., sec. 2.3; Qiu et al., sec. 3.1.2; Weng, RoBERTa; Liu et al., arXiv:1907.11692, sec. 4.1",
    prediction="After about 40 epochs on one small text, the loss on unseen text is lower with new masks than with "
    "ten masks for each text, as BERT's data had, and far lower than with one mask.",
    otherwise="The loss on unseen text is as low with repeated masks.",
    common=Arm(entry="MLM", corpus="world", tokens=6000, steps=240, figure="held-out loss"),
    arms={
        "one mask": {"settings": "dupe_factor=1"},
        "ten masks": {"settings": "dupe_factor=10"},
        "dynamic": {"settings": "dupe_factor=0"},
    },
    rules=(lower("dynamic", "one mask", by=0.5), lower("dynamic", "ten masks")),
    unit="nats",
    published="RoBERTa, table 1: SQuAD 2.0 F1 78.3 with static and 78.7 with dynamic masks",
    scale="The text is tiny on purpose, so that each mask is repeated as often as in 40 epochs. The loss is measured, "
    "not a task.",
)
