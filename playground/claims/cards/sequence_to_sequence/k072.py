"""Hiding words is what makes denoising a good pre-training; a model that only learns to restore the order of sentences
or the start of a document does worse."""

from playground.claims import Arm, Claim, higher

K072 = Claim(
    title="Without hidden words",
    source="Weng, BART; Lewis et al., arXiv:1910.13461, sec. 4.3",
    prediction="Fine-tuned for sentiment with 64 labelled texts, infilling is more accurate than permutation and than "
    "rotation.",
    otherwise="Permutation or rotation alone is as good.",
    common=Arm(corpus="reviews", steps=120, one_model=True, task="sentiment", figure="accuracy"),
    arms={
        "infilling": {"entry": "BART infilling objective"},
        "permutation": {"entry": "sentence permutation objective"},
        "rotation": {"entry": "document rotation objective"},
    },
    rules=(higher("infilling", "permutation"), higher("infilling", "rotation")),
    published="BART, table 1: SQuAD F1 90.8 with infilling, 85.4 with permutation, 77.2 with rotation",
    scale="One task, 120 steps and one model of each kind for all seeds, which draw other texts "
    "and heads. Reviews are short and of a small vocabulary, so that sentiment can be learned in this time.",
)
