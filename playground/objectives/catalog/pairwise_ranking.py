"""Pairwise ranking of windows (Collobert and Weston)."""

from functools import partial

from playground.objectives.ask import AskCentre
from playground.objectives.catalog.word2vec import LIKELY
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.propose import SampleNegatives
from playground.objectives.see import SeeWindow
from playground.objectives.symbols import DRAWN, SCORED, WINDOWS, distinguished

PAIRWISE_RANKING = Objective(
    name="pairwise ranking",
    aliases=("Collobert and Weston", "C&W", "ranking"),
    group="Word vectors",
    stages=(
        ChooseTokens(mask_ratio=1.0),
        SeeWindow(shrink_windows=False),
        AskCentre(),
        SampleNegatives(1, ns_exponent=0.0, loss="hinge"),
    ),
    idea="Score the true word in the middle of a window higher than a random word.",
    loss="Hinge loss: how far the true word's score falls short of the sampled word's plus one, and zero where it "
    "does not.",
    terms=(
        Term.by(
            partial(distinguished, over=WINDOWS, right=SCORED, wrong=DRAWN),
            "centre word",
            {"s": "the score of a word in a window", r"\tilde{x}_k": "a word drawn at random", "q_k": LIKELY["q_k"]},
            loss="hinge",
        ),
    ),
    source="Collobert and Weston 2008, sec. 3; survey of Qiu et al., arXiv:2003.08271, sec. 3.1",
)
