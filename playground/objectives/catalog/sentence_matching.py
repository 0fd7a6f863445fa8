"""Sentence matching, as in quick thoughts: the right neighbour among the batch's."""

from playground.objectives.arrange import FirstOfPair
from playground.objectives.ask import AskInBatchContrast
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

MATCHING = Objective(
    name="sentence matching",
    aliases=("contrastive learning", "CTL", "two towers", "InfoNCE"),
    group="Contrast and views",
    needs=("pair",),
    stages=(FirstOfPair(), SeeAll(), AskInBatchContrast()),
    idea="Read a text into one vector; find the vector of its continuation among those of the whole batch.",
    loss="Cross-entropy of the right continuation among all of the batch, read at the first special token.",
    terms=(
        Term(
            "match",
            r"-\frac{1}{B}\sum_{b}\log\frac{\exp s(x, y^{+})}{\exp s(x, y^{+}) + \sum_{y^{-}}\exp s(x, y^{-})}",
            symbols={
                "s": "the product of the two texts' first states",
                "y^{+}": "the text's own continuation",
                "y^{-}": "a continuation of another text of the batch",
            },
        ),
    ),
    source="Qiu et al., arXiv:2003.08271, sec. 3.1.5, eq. 4; arXiv:1803.02893, sec. 3",
)
