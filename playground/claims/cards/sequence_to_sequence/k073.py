"""Pre-training that writes from left to right improves generation."""

from playground.claims import Arm, Claim, higher

K073 = Claim(
    title="Left to right for generation",
    source="Weng, BART; Lewis et al., arXiv:1910.13461, sec. 4.3",
    prediction="With 64 labelled stories the decoder of T5's prefix LM and that of BART's infilling get more words of "
    "the summary right than MLM, whose decoder is untrained.",
    otherwise="MLM gets as many right as one of the two.",
    common=Arm(corpus="summaries", settings="decoder_layers=2", steps=200, one_model=True, task="summary",
               figure="accuracy"),
    arms={
        "prefix LM": {"entry": "T5 prefix LM"},
        "infilling": {"entry": "BART infilling objective"},
        "MLM": {"entry": "MLM"},
    },
    rules=(higher("prefix LM", "MLM"), higher("infilling", "MLM")),
    seeds=4,
    unit="of the words",
    scale="All have an encoder and a decoder; MLM trains its encoder alone, so this measures what a trained decoder "
    "is worth. One model of each kind for all seeds. The right words before a word are given.",
)  # fmt: skip
