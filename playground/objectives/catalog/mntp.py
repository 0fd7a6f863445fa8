"""MNTP: hide words as in MLM and predict each from the position before it."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMaskedNext
from playground.objectives.catalog.mlm import MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.see import SeeAll

MNTP = MLM.variant(
    name="MNTP",
    aliases=("masked next-token prediction",),
    stages=(ArrangeText(add_special_tokens=True), ChooseTokens(), ChangeTokens(), SeeAll(), AskMaskedNext()),
    idea="Hide some words and read them from both sides, but predict each at the position before it, as an LM does.",
    loss="Mean cross-entropy of the chosen words given the corrupted text.",
    source="arXiv:2404.05961, sec. 2; arXiv:2410.24159, sec. 2",
    versus={
        "MLM": "The same words are hidden and seen; each is predicted at the position before it.",
        "LM": "Each word is predicted at the position before it too, but only the hidden ones, from both sides.",
    },
)
