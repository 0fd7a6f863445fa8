"""Masking spans, and predicting them from their boundaries (SBO), helps tasks on spans of text."""

from playground.claims import Arm, Claim, higher

K045 = Claim(
    title="Spans and their boundaries",
    source="Qiu et al., sec. 3.1.2; Liu et al., sec. 2.3; Joshi et al., arXiv:1907.10529, sec. 3",
    prediction="With as many hidden words, spans with SBO find more answers than spans alone, and these more than "
    "single words.",
    otherwise="One of the two steps does not help.",
    common=Arm(corpus="questions", one_model=True, task="question answering", train_size=128, tuning_steps=160,
               figure="F1"),
    arms={
        "MLM": {"entry": "MLM"},
        "spans": {"entry": "span masking"},
        "spans + SBO": {"entry": "SpanBERT objective"},
    },
    rules=(higher("spans + SBO", "spans"), higher("spans", "MLM")),
    unit="F1",
    scale="Answers are short, mostly two words. One model of each kind for all seeds, which draw other texts and "
    "heads. 128 questions, because 64 are too few to learn from and 256 give nearly all answers (two seeds).",
)  # fmt: skip
