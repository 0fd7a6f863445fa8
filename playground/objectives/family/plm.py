"""PLM: predict the words in a random order, each from those that came earlier in that order."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskQueryStream
from playground.objectives.choose import ChooseOrder
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeOrder

PLM = Objective(
    name="PLM",
    aliases=("permutation language model", "permuted LM"),
    row="PLM",
    printed=Printed({"order": [3, 5, 6, 8, 2, 1, 4, 7], "cut": 3}),
    rank=6,
    stages=(ArrangeText(), ChooseOrder(), SeeOrder(), AskQueryStream()),
    idea="Draw an order; predict the last words of it, each from all that come earlier in the order.",
    loss="Mean cross-entropy of the last words of the order, given the words before them in the order.",
    terms=(Term("hidden words", r"-\frac{1}{T-c}\sum_{t=c+1}^{T}\log p(x_{z_t} \mid x_{z_{<t}}, z_t)"),),
    source="arXiv:1906.08237, sec. 2.2-2.3; survey, eq. 3-4",
)
