"""CTRL: a language model that is given a control code."""

from functools import partial

from playground.objectives.arrange import ArrangeDocument, ControlCode, ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.catalog.lm import NEXT
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft
from playground.objectives.symbols import next_word

CONDITIONAL_LM = Objective(
    name="conditional LM",
    aliases=("CTRL", "control code LM"),
    group="Language models",
    needs=("label:topic",),
    stages=(ArrangeDocument("topic"), ShiftRight(), ControlCode("topic"), SeeLeft(), AskNext()),
    idea=(
        "Put a control code for the topic first, then predict each word from it and the words to its left. Of a row "
        "only the first text with a topic is read; a row without any is an ordinary language model."
    ),
    loss="Mean cross-entropy of every word given the code of its own text and the words before it.",
    terms=(
        Term.by(
            partial(next_word, given="c, "),
            "next word",
            {"c": "the control code of the text", **NEXT.symbols},
            add_eos=False,
            context_size=0,
            sliding_window=0,
        ),
    ),
    source="arXiv:1909.05858, sec. 3",
)
