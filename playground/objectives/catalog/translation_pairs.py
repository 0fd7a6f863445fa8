"""Whether two sentences are translations of each other (Unicoder)."""

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskPair
from playground.objectives.catalog.nsp import PAIR
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

TRANSLATION_PAIRS = Objective(
    name="translation pairs",
    aliases=("cross-lingual paraphrase classification",),
    group="Two texts",
    needs=("translation",),
    stages=(ArrangePair(("translation", "other")), SeeAll(), AskPair(("translation", "another text"))),
    idea="Put two texts of two languages side by side; say whether they mean the same.",
    loss="Cross-entropy of the one label of each pair, read at its first special token.",
    terms=PAIR,
    source="arXiv:1909.00964, sec. 3",
)
