"""Next sentence prediction (BERT)."""

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskPair
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll

PAIR = (Term("pair", r"-\log p(y \mid A, B)", symbols={"y": "how the pair was made", "A": "the first text"}),)

NSP = Objective(
    name="NSP",
    aliases=("next sentence prediction",),
    row="NSP",
    printed=Printed({"pair": "next"}, text="Sent1", pair="Next Sent", other="Random Sent"),
    group="Two texts",
    needs=("pair",),
    stages=(ArrangePair(("next", "other")), SeeAll(), AskPair(("Next Sent", "Random Sent"))),
    idea="Put two texts side by side; say whether the second follows the first or comes from another document.",
    loss="Cross-entropy of the one label of each pair, read at its first special token.",
    terms=PAIR,
    source="arXiv:1810.04805, sec. 3.1",
)
