"""Span mask: hide one run of words token by token and let a decoder write it."""

from dataclasses import replace

from playground.objectives.ask import AskToWrite
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseFragment, ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeEncoderDecoder

SPAN_MASK = Objective(
    name="span mask",
    aliases=("MASS", "seq2seq MLM", "fragment"),
    row="Span Mask",
    printed=Printed({"spans": ["3:3"]}),
    group="Writing (seq2seq)",
    rank=8,
    stages=(
        ChooseFragment(),
        ChangeTokens(),
        AskToWrite(target="fragment"),
        SeeEncoderDecoder(hide_masked=True),
    ),
    idea="Hide one run of words behind as many masks; a decoder writes the run, one word after the other.",
    loss="Mean cross-entropy of the hidden run, each word given the corrupted text and the run so far.",
    terms=(Term("written words", r"-\frac{1}{j-i+1}\sum_{t=i}^{j}\log p(x_t \mid x_{\setminus i:j}, x_{i:t-1})"),),
    source="arXiv:1905.02450, sec. 3.2",
)

DISCRETE_MASK = replace(
    SPAN_MASK,
    name="discrete mask",
    aliases=("MASS discrete", "MASS with single tokens"),
    row="",
    printed=Printed(),
    rank=143,
    stages=(ChooseTokens(rate=0.5, specials=0), *SPAN_MASK.stages[1:]),
    idea="Hide half of the words here and there, each behind a mask; a decoder writes them in their order.",
    loss="Mean cross-entropy of the hidden words, given the corrupted text and the words just before each so far.",
    terms=(
        Term(
            "written words",
            r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid x_{\setminus M}, \{x_{s-1} : s \in M, s \leq t\})",
            symbols={"x_{s-1}": "the word before a hidden one, which the decoder reads instead of what it wrote last"},
        ),
    ),
    source="arXiv:1905.02450, sec. 4.5 (Discrete)",
)
