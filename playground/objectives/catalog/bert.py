"""BERT: MLM and next sentence prediction."""

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskMasked, AskPair
from playground.objectives.catalog.nsp import PAIR
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

HIDDEN = Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x})")

MLM_AND_NSP = Objective(
    name="MLM + NSP",
    aliases=("BERT's objective",),
    group="In combination",
    needs=("pair",),
    stages=(
        ArrangePair(("next", "other")),
        ChooseTokens(num_special_tokens=3),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
        AskPair(("Next Sent", "Random Sent")),
    ),
    idea="Hide words in two texts side by side; guess them, and say whether the second text follows the first.",
    loss="Mean cross-entropy of the hidden words, plus that of the one label of each pair.",
    terms=(HIDDEN, *PAIR),
    source="arXiv:1810.04805, sec. 3.1",
)
