"""DIM and InfoWord: which span of words is missing here, among those of all texts of the batch."""

from dataclasses import replace

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskInBatchContrast
from playground.objectives.catalog.mlm import MLM
from playground.objectives.change import ReplaceWithMask
from playground.objectives.choose import ChooseNgram
from playground.objectives.formula import Misprint, Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

GROUP = "Contrast and views"

MATCH = Term(
    "match",
    r"-\frac{1}{B}\sum_{b}\Big[s(\hat{x}_{i:j}, x_{i:j}) - \log\sum_{\tilde{x}_{i:j}}"
    r"\exp s(\hat{x}_{i:j}, \tilde{x}_{i:j})\Big]",
    symbols={
        "s": "the product of the two texts' first states",
        r"\hat{x}_{i:j}": "the text with the n-gram hidden",
        r"\tilde{x}_{i:j}": "an n-gram of the batch, the right one included",
    },
)
PRINTED = Misprint(
    r"s(\hat{x}_{i:j}, x_{i:j}) - \log\sum_{\tilde{x}_{i:j} \in N} s(\hat{x}_{i:j}, \tilde{x}_{i:j})",
    "Qiu et al., arXiv:2003.08271, Table 1",
    "The minus in front and the exponential in the sum are missing; as printed, it would be maximised, not minimised.",
)

DIM = Objective(
    name="DIM",
    aliases=("Deep InfoMax", "n-gram matching"),
    group=GROUP,
    stages=(ArrangeText(add_special_tokens=True), ChooseNgram(), ReplaceWithMask(), SeeAll(), AskInBatchContrast()),
    idea="Hide one span of words; find it among the spans that are hidden in the other texts of the batch.",
    loss="Cross-entropy of the right span among all of the batch, read at the first special token of each text.",
    terms=(MATCH,),
    misprint=PRINTED,
    source="arXiv:1910.08350, sec. 4",
)

INFOWORD = Objective(
    name="InfoWord",
    aliases=("DIM + MLM",),
    group=GROUP,
    stages=DIM.stages,
    auxiliary=((1.0, replace(MLM, stages=(ArrangeText(add_special_tokens=True), *MLM.stages[1:]))),),
    idea="Predict hidden words, and find a hidden span of words among those of the other texts.",
    loss="Cross-entropy of the chosen words plus cross-entropy of the right span among all of the batch.",
    terms=(*MLM.terms, MATCH),
    misprint=PRINTED,
    source="arXiv:1910.08350, sec. 4",
)
