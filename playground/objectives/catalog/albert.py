"""ALBERT: n-gram MLM and sentence order prediction."""

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskMasked, AskPair
from playground.objectives.catalog.bert import HIDDEN
from playground.objectives.catalog.nsp import PAIR
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseNgrams
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

ALBERT = Objective(
    name="n-gram MLM + SOP",
    aliases=("ALBERT's objective",),
    group="In combination",
    needs=("pair",),
    stages=(
        ArrangePair(("next", "previous")),
        ChooseNgrams(num_special_tokens=3),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
        AskPair(("in order", "reversed")),
    ),
    idea="Hide spans of one to three words in two neighbouring texts; predict them, and say whether the two were "
    "swapped.",
    loss="Mean cross-entropy of the hidden words, plus that of the one label of each pair.",
    terms=(HIDDEN, *PAIR),
    source="arXiv:1909.11942, sec. 3.1 and 4.1",
)
