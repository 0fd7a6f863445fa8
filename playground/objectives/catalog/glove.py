"""GloVe: meet the logarithm of how often two words stand near each other."""

from playground.objectives.arrange import ArrangeCooccurrences
from playground.objectives.ask import AskCount
from playground.objectives.formula import Misprint, Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeSelf

GLOVE = Objective(
    name="GloVe",
    aliases=("global vectors", "co-occurrence"),
    group="Word vectors",
    stages=(ArrangeCooccurrences(), SeeSelf(), AskCount()),
    idea="Count which words occur near each other; fit the product of two vectors to the logarithm of the count.",
    loss="Mean squared distance to the logarithm of each count; rare pairs count less.",
    terms=(
        Term(
            "how often",
            r"\frac{1}{|X|}\sum_{X_{ij} > 0} f(X_{ij})\,(w_i^\top \tilde{w}_j + b_i + \tilde{b}_j - \log X_{ij})^2",
            symbols={
                "X_{ij}": "how often words i and j co-occur",
                "f": "min(1, X / most) to a power, both knobs (100 and 3/4 in the paper)",
            },
        ),
    ),
    misprint=Misprint(
        r"X_{ij} = P(j \mid i)",
        "From Static Embedding to Contextualized Embedding, GloVe",
        "X is called the probability that word j appears in the context of word i; it is the number of times.",
    ),
    source="Pennington et al. 2014, eq. 8-9; survey of Qiu et al., arXiv:2003.08271, sec. 2.3",
)
