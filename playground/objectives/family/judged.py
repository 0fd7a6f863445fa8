"""Pairs of texts with a known answer: does one follow from the other, what joins them, how far apart are they?"""

from dataclasses import replace

from playground.objectives.arrange import ArrangePair, FirstOfPair, LabelledPair
from playground.objectives.ask import AskInBatchContrast, AskPair
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll, SeeWithinSegment

GROUP = "Two texts"

INFERENCES = ("contradiction", "neutral", "entailment")

CONNECTIVES = ("and", "but", "because", "so")


def _judged(name: str, given: str = "A, B") -> tuple[Term, ...]:
    symbols = {"y": "how the pair is judged", "A": "the first text"}
    return (Term(name, rf"-\log p(y \mid {given})", symbols=symbols),)


NLI = Objective(
    name="inference",
    aliases=("NLI", "natural language inference"),
    group=GROUP,
    rank=161,
    needs=("pair", "label:inference"),
    printed=Printed(
        {"pair": "entailment"},
        text="A soccer game with multiple males playing .",
        pair="Some men are playing a sport .",
    ),
    stages=(LabelledPair("inference", INFERENCES), SeeAll(), AskPair(INFERENCES, "inference")),
    idea="Put two texts side by side; say whether the second follows from the first, denies it, or does neither.",
    loss="Cross-entropy of the one label of each pair, read at its first sign.",
    terms=_judged("inference"),
    source="arXiv:1508.05326, sec. 2; one of the tasks of arXiv:1804.00079, sec. 3",
)

INFERSENT = replace(
    NLI,
    name="InferSent",
    aliases=("NLI apart", "Sentence-BERT", "SBERT"),
    rank=162,
    stages=(
        LabelledPair("inference", INFERENCES, pair_format="xlm", reset_position_ids=True),
        SeeWithinSegment(),
        AskPair(INFERENCES, "inference", apart=True),
    ),
    idea="Read two texts apart, each into one vector; say from both vectors whether one follows from the other.",
    loss="Cross-entropy of the one label of each pair, read at the first signs of both texts.",
    terms=_judged("inference", r"h(A), h(B)"),
    source="arXiv:1705.02364, sec. 3.1; arXiv:1908.10084, sec. 3",
)

DISCOURSE = replace(
    NLI,
    name="discourse relation",
    aliases=("connective prediction", "DisSent", "ERNIE 2.0 discourse relation"),
    rank=163,
    needs=("pair", "label:connective"),
    printed=Printed({"pair": "because"}, text="I stayed at home", pair="it rained all day"),
    stages=(LabelledPair("connective", CONNECTIVES), SeeAll(), AskPair(CONNECTIVES, "connective")),
    idea="Take out the word that joins two clauses; say which one it was, and so how the two belong together.",
    terms=_judged("connective"),
    source="arXiv:1907.12412, sec. 4.2.3; arXiv:1710.04334, sec. 3",
)

DISTANCES = ("adjacent", "same document", "other document")

DISTANCE = Objective(
    name="sentence distance",
    aliases=("ERNIE 2.0 sentence distance", "semantic closeness"),
    group=GROUP,
    rank=164,
    needs=("distance",),
    printed=Printed(
        {"pair": "apart"},
        text="We met in the morning . We had tea . Then we went home .",
        other="The moon is far away .",
    ),
    stages=(ArrangePair(("next", "apart", "other")), SeeAll(), AskPair(DISTANCES)),
    idea="Say whether two sentences are neighbours, stand further apart in one document, or come from two.",
    loss="Cross-entropy of the one label of each pair, one of three, read at its first sign.",
    terms=(Term("pair", r"-\log p(y \mid A, B)", symbols={"y": "how far apart they are", "A": "the first text"}),),
    source="arXiv:1907.12412, sec. 4.2.2",
)

MATCHING = Objective(
    name="sentence matching",
    aliases=("contrastive learning", "CTL", "two towers", "InfoNCE"),
    group="Contrast and views",
    rank=165,
    needs=("pair",),
    stages=(FirstOfPair(), SeeAll(), AskInBatchContrast()),
    idea="Read a text into one vector; find the vector of its continuation among those of the whole batch.",
    loss="Cross-entropy of the right continuation among all of the batch, read at the first sign of each text.",
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
