"""Every task as text in, text out: a prefix says which task it is, labels and numbers are words (T5)."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskAnswer
from playground.objectives.catalog.t5 import T5_SPANS
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeEncoderDecoder

GROUP = "Writing (seq2seq)"

FIGURE = Printed(
    text="stsb sentence1: The rhino grazed on the grass. sentence2: A rhino is grazing in a field.", pair="3.8"
)
"""One of the examples of T5's figure 1."""

TEXT_TO_TEXT = Objective(
    name="text-to-text",
    aliases=("T5 tasks", "prefixed tasks"),
    group=GROUP,
    needs=("pair", "answer"),
    printed=FIGURE,
    stages=(ArrangeText(), AskAnswer(), SeeEncoderDecoder()),
    idea="Read a task's name and its texts; a decoder writes the answer as text, even if it is a label or a number.",
    loss="Mean cross-entropy of the answer, each word given what is read and the words of the answer so far.",
    terms=(Term("written words", r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid x, y_{<i})"),),
    source="arXiv:1910.10683, sec. 2.4 and figure 1",
)

MULTI_TASK = mixture(
    "T5 multi-task",
    ((1.0, T5_SPANS), (1.0, TEXT_TO_TEXT)),
    aliases=("multi-task text-to-text", "T5 mixture"),
    group="In combination",
    printed=FIGURE,
    idea="Alternate between filling gaps and answering a task written as text; each batch is one of the two.",
    loss="Mean cross-entropy of what the decoder writes: sentinels and missing words, or an answer, and [END].",
    source="arXiv:1910.10683, sec. 3.5.2",
)
