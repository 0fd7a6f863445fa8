"""TLM: hide words in a sentence and in its translation, so that each can be read off the other."""

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskMasked, AskPair
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.family.pairs import PAIR
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll

TLM = Objective(
    name="TLM",
    aliases=("translation language model",),
    row="TLM",
    printed=Printed({"chosen": [2, 4]}, text="How are you", pair="Comment vas-tu"),
    group="Two texts",
    rank=14,
    needs=("translation",),
    stages=(
        ArrangePair(("translation",), pair_format="xlm", reset_position_ids=True),
        ChooseTokens(num_special_tokens=4),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
    ),
    idea="Hide words in a sentence and in its translation; each may be read off the other language.",
    loss="Mean cross-entropy of the hidden words of both languages.",
    terms=(Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x}, \hat{y})"),),
    source="arXiv:1901.07291, sec. 3.4",
)

TRANSLATION_PAIRS = Objective(
    name="translation pairs",
    aliases=("cross-lingual paraphrase classification",),
    group="Two texts",
    rank=43,
    needs=("translation",),
    stages=(ArrangePair(("translation", "other")), SeeAll(), AskPair(("translation", "another text"))),
    idea="Put two texts of two languages side by side; say whether they mean the same.",
    loss="Cross-entropy of the one label of each pair, read at its first sign.",
    terms=PAIR,
    source="arXiv:1909.00964, sec. 3",
)
