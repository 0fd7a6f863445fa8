"""Any-order LM: a language model of words in a random order, each with the position of the word that comes next."""

from collections.abc import Mapping
from typing import Any

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskNext
from playground.objectives.change import ShiftInOrder
from playground.objectives.choose import ChooseAnyOrder
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft
from playground.objectives.symbols import IN_LAYERS


def _latex(knobs: Mapping[str, Any]) -> str:
    skip, window = knobs["context_size"], knobs["sliding_window"]
    seen = r"x_{z_{t-(k-1)L-1}}, \ldots, x_{z_{t-1}}" if window else r"x_{z_{<t}}"
    number = f"T-{skip}" if skip else "T"
    return rf"-\frac{{1}}{{{number}}}\sum_{{t={skip + 1}}}^{{T}}\log p(x_{{z_t}} \mid {seen}, z_t)"


ANY_ORDER = Objective(
    name="any-order LM",
    aliases=("sigma-GPT", "ARDM", "any-order", "any-order autoregressive", "autoregressive diffusion", "NADE"),
    group="Orders",
    stages=(ArrangeText(), ChooseAnyOrder(), ShiftInOrder(), SeeLeft(), AskNext()),
    idea=(
        "Shuffle the words and predict each from those before it. Every word is read with its own position and with "
        "that of the word to predict."
    ),
    loss="Mean cross-entropy of every word given the words before it in the order, and its own position.",
    terms=(
        Term.by(
            _latex,
            "next word",
            {"z": "the order", "T": "the number of words", **IN_LAYERS},
            context_size=0,
            sliding_window=0,
        ),
    ),
    source="arXiv:2404.09562, sec. 2; arXiv:2110.02037",
    versus={
        "PLM": "One stream reads the shuffled words, because the position to predict is read with the word before it. "
        "Every word is predicted.",
        "LM": "Draws another order for every text, so a word is predicted from words on both sides.",
        "masked diffusion": "Its loss is exact for the drawn order, and every word is predicted in one step.",
    },
)
