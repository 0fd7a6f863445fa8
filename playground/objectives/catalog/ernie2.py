"""ERNIE 2.0: discourse relation and sentence distance."""

from dataclasses import replace

from playground.objectives.arrange import ArrangePair, LabelledPair
from playground.objectives.ask import AskPair
from playground.objectives.catalog.nli import NLI, pair_terms
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll

CONNECTIVES = ("and", "but", "because", "so")

DISCOURSE = replace(
    NLI,
    name="discourse relation",
    aliases=("connective prediction", "DisSent", "ERNIE 2.0 discourse relation"),
    needs=("pair", "label:connective"),
    printed=Printed({"pair": "because"}, text="I stayed at home", pair="it rained all day"),
    stages=(LabelledPair("connective", CONNECTIVES), SeeAll(), AskPair(CONNECTIVES, "connective")),
    idea="Take out the word that joins two clauses; say which one it was, and so how the two belong together.",
    terms=pair_terms("connective"),
    source="arXiv:1907.12412, sec. 4.2.3; arXiv:1710.04334, sec. 3",
)

DISTANCES = ("adjacent", "same document", "other document")

DISTANCE = Objective(
    name="sentence distance",
    aliases=("ERNIE 2.0 sentence distance", "semantic closeness"),
    group="Two texts",
    needs=("distance",),
    printed=Printed(
        {"pair": "apart"},
        text="We met in the morning . We had tea . Then we went home .",
        other="The moon is far away .",
    ),
    stages=(ArrangePair(("next", "apart", "other")), SeeAll(), AskPair(DISTANCES)),
    idea="Say whether two sentences are neighbours, stand further apart in one document, or come from two.",
    loss="Cross-entropy of the one label of each pair, one of three, read at its first special token.",
    terms=(Term("pair", r"-\log p(y \mid A, B)", symbols={"y": "how far apart they are", "A": "the first text"}),),
    source="arXiv:1907.12412, sec. 4.2.2",
)
