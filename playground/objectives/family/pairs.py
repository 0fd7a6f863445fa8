"""NSP, SOP and their union: does the second text follow, precede, or come from elsewhere?"""

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskPair
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll

GROUP = "Two texts"

PAIR = (Term("pair", r"-\log p(y \mid A, B)", symbols={"y": "what became of the pair", "A": "the first text"}),)

NSP = Objective(
    name="NSP",
    aliases=("next sentence prediction",),
    row="NSP",
    printed=Printed({"pair": "next"}, text="Sent1", pair="Next Sent", other="Random Sent"),
    group=GROUP,
    rank=3,
    needs=("pair",),
    stages=(ArrangePair(("next", "other")), SeeAll(), AskPair(("Next Sent", "Random Sent"))),
    idea="Put two texts side by side; say whether the second follows the first or comes from another document.",
    loss="Cross-entropy of the one label of each pair, read at its first sign.",
    terms=PAIR,
    source="arXiv:1810.04805, sec. 3.1",
)

SOP = Objective(
    name="SOP",
    aliases=("sentence order prediction",),
    row="SOP",
    printed=Printed({"pair": "next"}, text="Sent1", pair="Sent2"),
    group=GROUP,
    rank=4,
    needs=("pair",),
    stages=(ArrangePair(("next", "previous")), SeeAll(), AskPair(("in order", "reversed"))),
    idea="Put two neighbours side by side, sometimes swapped; say whether they stand in their order.",
    loss="Cross-entropy of the one label of each pair, read at its first sign.",
    terms=PAIR,
    source="arXiv:1909.11942, sec. 3.1",
)

SENTENCE_STRUCTURE = Objective(
    name="sentence structure",
    aliases=("three-way order", "StructBERT sentence objective", "sentence structural objective"),
    group=GROUP,
    rank=42,
    needs=("pair",),
    stages=(ArrangePair(("next", "previous", "other")), SeeAll(), AskPair(("next", "previous", "random"))),
    idea="Say whether the second text follows the first, comes before it, or comes from another document.",
    loss="Cross-entropy of the one label of each pair, one of three, read at its first sign.",
    terms=PAIR,
    source="arXiv:1908.04577, sec. 2.2.2",
)
