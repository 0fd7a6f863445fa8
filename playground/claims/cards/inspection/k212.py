"""BERT is not robust to misspellings, and least of all to those in the words that matter most."""

from playground.claims import Arm, Claim, Lab, lower


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of the fine-tuned model on texts with typing errors of some kind, or with none."""
    number = next(n for n in lab.finding(arm, seed).numbers if n.name == "fine-tuned")
    return number.value if arm.figure == "all words mistyped" else number.baselines[arm.figure]


K212 = Claim(
    title="Misspellings",
    source="Qiu et al., sec. 7.7; Sun et al., arXiv:2003.04985",
    prediction="One typing error in the most important word of each text costs at least 0.1 of accuracy, and an error "
    "in every long word at least as much.",
    otherwise="The accuracy stays.",
    common=Arm("RoBERTa", steps=600, one_model=True, instrument="misspelling"),
    arms={
        "no errors": {"figure": "no errors"},
        "one error": {"figure": "one error in the most important word"},
        "all words": {"figure": "all words mistyped"},
    },
    rules=(lower("one error", "no errors", by=0.1), lower("all words", "no errors", by=0.1)),
    compute=accuracy,
    unit="of the texts",
    scale="Our words have no pieces: a mistyped word is unknown, so the model loses it altogether, while BERT still "
    "has its pieces. One pre-trained model for all seeds; texts, errors and classifiers vary.",
)
