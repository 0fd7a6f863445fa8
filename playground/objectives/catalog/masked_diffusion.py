"""Masked diffusion: hide any share of the words and predict them, which bounds the probability of the text."""

from collections.abc import Mapping
from typing import Any

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskDiffused
from playground.objectives.change import ReplaceWithMask
from playground.objectives.choose import ChooseDiffused
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll


def diffusion_term(time: str, meaning: str) -> Term:
    """The loss of the hidden words, each divided by a time."""

    def latex(knobs: Mapping[str, Any]) -> str:
        log = r"\log p(x_i \mid \hat{x})"
        if knobs["loss_weight"] == "uniform":
            return rf"-\frac{{1}}{{|M|}}\sum_{{i \in M}}{log}"
        return rf"-\frac{{1}}{{L}}\sum_{{i \in M}}\frac{{1}}{{{time}}}\,{log}"

    symbols = {"L": "the number of words", "M": "the hidden words", time: meaning}
    return Term.by(latex, "hidden words", symbols, loss_weight="1/t")


MASKED_DIFFUSION = Objective(
    name="masked diffusion",
    aliases=("MDLM", "LLaDA", "diffusion", "diffusion language model", "discrete diffusion", "absorbing diffusion"),
    group="Masking",
    stages=(ArrangeText(), ChooseDiffused(), ReplaceWithMask(), SeeAll(), AskDiffused()),
    idea="Draw a time t for each text, hide each word with probability t, and predict what is hidden from both sides.",
    loss="Cross-entropy of the hidden words, each divided by t, summed and divided by the number of all words. In the "
    "mean over all times it is an upper bound of the negative log-likelihood of each word.",
    terms=(diffusion_term("t", "the time, and the share of hidden words"),),
    source="MDLM, arXiv:2406.07524, eq. 10; LLaDA, arXiv:2502.09992, eq. 3",
    versus={
        "MLM": "Hides any share of the words, not 15 %, always shows [MASK], and weighs a hidden word by 1/t, so that "
        "the loss bounds the likelihood.",
        "LM": "Predicts the words in no order; its loss is an upper bound where that of LM is exact.",
    },
)
