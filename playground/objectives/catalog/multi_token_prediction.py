"""Multi-token prediction: every position predicts the next word and words after it, by heads of their own."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from playground.answers import WordAhead
from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskFurther, AskNext
from playground.objectives.catalog.lm import NEXT
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft
from playground.objectives.symbols import IN_LAYERS


def _further(knobs: Mapping[str, Any], ahead: int, between: bool) -> str:
    """The word `ahead` positions after the next one, without the words in between or with them."""
    skip, last = knobs["context_size"], f"T{int(knobs['add_eos']) - ahead:+d}".replace("+0", "")
    number = f"T{int(knobs['add_eos']) - ahead - skip:+d}".replace("+0", "")
    after = rf", x_{{t:t+{ahead - 1}}}" if between and ahead > 1 else ", x_t" if between else ""
    seen = (r"x_{t-(k-1)L-1}, \ldots, x_{t-1}" if knobs["sliding_window"] else "x_{<t}") + after
    start = f"t={skip + 1}"
    return rf"-\frac{{1}}{{{number}}}\sum_{{{start}}}^{{{last}}}\log p_{ahead + 1}(x_{{t+{ahead}}} \mid {seen})"


def _term(ahead: int, between: bool = False, weight: str = "") -> Term:
    symbols = {f"p_{ahead + 1}": f"the head for the word {ahead + 1} positions on", **IN_LAYERS}
    under = partial(_further, ahead=ahead, between=between)
    term = Term.by(under, WordAhead(ahead).name, symbols, add_eos=False, context_size=0, sliding_window=0)
    return Term(term.target, term.latex, weight, term.symbols, under)


MULTI_TOKEN = Objective(
    name="multi-token prediction",
    aliases=("MTP", "parallel multi-token prediction", "n-token prediction"),
    group="Language models",
    stages=(ShiftRight(), SeeLeft(), AskNext(), AskFurther(1), AskFurther(2), AskFurther(3)),
    idea="Predict the next four words at every position: the last layer predicts the first of them, and three more "
    "layers on the same states below predict the others. After training these layers are dropped.",
    loss="Sum of four mean cross-entropies, one for each distance.",
    terms=(NEXT, *map(_term, (1, 2, 3))),
    source="arXiv:2404.19737, sec. 2",
    versus={
        "LM": "Three more words are predicted at every position, which makes states look further ahead.",
        "sequential multi-token prediction": "No head reads the words between its position and its target.",
    },
)

SEQUENTIAL_MULTI_TOKEN = Objective(
    name="sequential multi-token prediction",
    aliases=("sequential MTP", "DeepSeek-V3 MTP", "MTP module", "next-n prediction"),
    group="Language models",
    stages=(ShiftRight(), SeeLeft(), AskNext(), AskFurther(1, "sequential", 0.3)),
    idea="Predict the next word, and with one more layer the word after it. That layer reads the states of the model "
    "and the next word, so the chain from word to word stays whole.",
    loss="Mean cross-entropy of the next word, plus λ times that of the word after it, which is predicted with the "
    "next word known.",
    terms=(NEXT, _term(1, True, r"\lambda")),
    source="arXiv:2412.19437, sec. 2.2",
    versus={
        "LM": "The word after the next one is predicted too, with the next one known.",
        "multi-token prediction": "The layer for the second word reads the first one; it is not a guess from afar.",
    },
)
