"""Generating gap sentences (GSG) is a better pre-training for summaries than restoring words."""

from playground.claims import Arm, Claim, higher

K084 = Claim(
    title="Gap sentences for summaries",
    source="Qiu et al., sec. 3.2 and 7.6; Zhang et al., arXiv:1912.08777, sec. 6.1",
    prediction="With 64 labelled stories the model of gap sentences gets more words of the summary right than BART's "
    "infilling and than MLM with a new decoder.",
    otherwise="One of the two gets as many right.",
    common=Arm(corpus="summaries", settings="decoder_layers=2", steps=200, one_model=True, task="summary",
               figure="accuracy"),
    arms={
        "gap sentences": {"entry": "gap sentences objective"},
        "infilling": {"entry": "BART infilling objective"},
        "MLM": {"entry": "MLM"},
    },
    rules=(higher("gap sentences", "infilling"), higher("gap sentences", "MLM")),
    seeds=4,
    unit="of the words",
    scale="Rows of 32 tokens hold about half a story of 57, so that the sentence that a gap repeats is often missing. "
    "One model of each kind for all seeds. The right words before a word are given.",
)  # fmt: skip
