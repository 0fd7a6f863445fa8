"""GLM: fill the blanks of a text, one after the other, with a model that reads the text from both sides."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskBlanks
from playground.objectives.change import SpansToBlanks
from playground.objectives.choose import ChoosePoissonSpans
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeePrefix

GLM = Objective(
    name="GLM",
    aliases=("blank infilling", "autoregressive blank infilling"),
    group="Denoising",
    stages=(
        ArrangeText(),
        ChoosePoissonSpans(mask_ratio=0.15, placement="apart"),
        SpansToBlanks(),
        SeePrefix("blanks"),
        AskBlanks(),
    ),
    idea=(
        "Replace each span by one [MASK] and write the spans after the text, in any order. The text sees itself; a "
        "span sees the text, the spans before it and its own words so far."
    ),
    loss="Mean cross-entropy of the words of the spans and of the [END] of each, given the text with its blanks, the "
    "spans that are filled and the words before.",
    terms=(
        Term(
            "hidden words",
            r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid \hat{x}, y_{<i})",
            symbols={"y": "the spans in the order in which they are filled, each with its [END]"},
        ),
    ),
    source="arXiv:2103.10360, sec. 2.1-2.2",
    versus={
        "T5 spans": "One stack reads and writes. The spans are written in any order, and each [MASK] is the same; a "
        "second position counts the words of a span.",
        "PLM": "Predicts whole spans from left to right. How many words are missing is not known.",
    },
)
