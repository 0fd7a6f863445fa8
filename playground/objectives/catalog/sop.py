"""Sentence order prediction (ALBERT)."""

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskPair
from playground.objectives.catalog.nsp import PAIR
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll

SOP = Objective(
    name="SOP",
    aliases=("sentence order prediction",),
    row="SOP",
    printed=Printed({"pair": "next"}, text="Sent1", pair="Sent2"),
    group="Two texts",
    needs=("pair",),
    stages=(ArrangePair(("next", "previous")), SeeAll(), AskPair(("in order", "reversed"))),
    idea="Put two neighbouring texts side by side, sometimes swapped; say whether they are in the right order.",
    loss="Cross-entropy of the one label of each pair, read at its first special token.",
    terms=PAIR,
    source="arXiv:1909.11942, sec. 3.1",
)
