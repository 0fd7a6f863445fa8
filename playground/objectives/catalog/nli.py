"""Natural language inference as pre-training, and InferSent's two encoders."""

from dataclasses import replace

from playground.objectives.arrange import LabelledPair
from playground.objectives.ask import AskPair
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll, SeeWithinSegment

INFERENCES = ("contradiction", "neutral", "entailment")


def pair_terms(name: str, given: str = "A, B") -> tuple[Term, ...]:
    """The loss of a label of two texts."""
    symbols = {"y": "the relation of the two texts", "A": "the first text"}
    return (Term(name, rf"-\log p(y \mid {given})", symbols=symbols),)


NLI = Objective(
    name="inference",
    aliases=("NLI", "natural language inference"),
    group="Two texts",
    needs=("pair", "label:inference"),
    printed=Printed(
        {"pair": "entailment"},
        text="A soccer game with multiple males playing .",
        pair="Some men are playing a sport .",
    ),
    stages=(LabelledPair("inference", INFERENCES), SeeAll(), AskPair(INFERENCES, "inference")),
    idea="Put two texts side by side; say whether the second follows from the first, denies it, or does neither.",
    loss="Cross-entropy of the one label of each pair, read at its first special token.",
    terms=pair_terms("inference"),
    source="arXiv:1508.05326, sec. 2; one of the tasks of arXiv:1804.00079, sec. 3",
)

INFERSENT = replace(
    NLI,
    name="InferSent",
    aliases=("NLI apart", "Sentence-BERT", "SBERT"),
    stages=(
        LabelledPair("inference", INFERENCES, pair_format="xlm", reset_position_ids=True),
        SeeWithinSegment(),
        AskPair(INFERENCES, "inference", apart=True),
    ),
    idea="Read two texts separately, each into one vector; say from both vectors whether one follows from the other.",
    loss="Cross-entropy of the one label of each pair, read at the first special tokens of both texts.",
    terms=pair_terms("inference", r"h(A), h(B)"),
    source="arXiv:1705.02364, sec. 3.1; arXiv:1908.10084, sec. 3",
)
