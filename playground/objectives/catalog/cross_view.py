"""CVT: a reader of the whole text teaches readers of a part of it, on texts whose labels nobody knows."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskCrossView
from playground.objectives.catalog.sentilr import PARTS_OF_SPEECH
from playground.objectives.choose import ChooseSupervised
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeViews


def taught(view: str, sees: str, number: str) -> Term:
    """The loss of one view, which must say what is said of the whole text."""
    return Term(
        view,
        rf"-\frac{{1}}{{{number}}}\sum_t \sum_y \bar{{p}}(y_t \mid x)\log p_{{{view}}}(y_t \mid {sees})",
        symbols={r"\bar{p}": "the prediction for the whole text, without gradient"},
    )


CVT = Objective(
    name="CVT",
    aliases=("cross-view training",),
    group="Contrast and views",
    needs=("label:pos",),
    stages=(ArrangeText(), ChooseSupervised(), SeeViews(), AskCrossView("pos", PARTS_OF_SPEECH)),
    idea="Learn from labels where they are known; elsewhere, views of a part of the text learn the prediction for the "
    "whole.",
    loss="Cross-entropy of the known labels; on the other texts, that of four views against the prediction for the "
    "whole.",
    terms=(
        Term("label", r"-\frac{1}{|L|}\sum_{t \in L}\log p(y_t \mid x)", symbols={"L": "the words with a known label"}),
        taught("forwards", r"x_{\le t}", "T"),
        taught("future", r"x_{<t}", "T-1"),
        taught("backwards", r"x_{\ge t}", "T"),
        taught("past", r"x_{>t}", "T-1"),
    ),
    source="arXiv:1809.08370, sec. 2-3",
)
