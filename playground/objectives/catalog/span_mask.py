"""Span mask: hide one span of words token by token and let a decoder write it."""

from functools import partial

from playground.objectives.ask import AskDecoder
from playground.objectives.catalog.text_infilling import WRITTEN
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseMassSpan, ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeEncoderDecoder
from playground.objectives.symbols import DISCRETE, FRAGMENT, SIGN_BEHIND, written

SPAN_MASK = Objective(
    name="span mask",
    aliases=("MASS", "seq2seq MLM", "fragment"),
    row="Span Mask",
    printed=Printed({"spans": ["3:3"]}),
    group="Writing (seq2seq)",
    stages=(
        ChooseMassSpan(),
        ChangeTokens(),
        AskDecoder(target="fragment", add_eos=False),
        SeeEncoderDecoder(hide_masked=True),
    ),
    idea="Replace each word of one span by a mask; a decoder writes the span, one word after the other.",
    loss="Mean cross-entropy of the hidden span, each word given the corrupted text and the span so far.",
    terms=(Term.by(partial(written, fragment=FRAGMENT), WRITTEN, SIGN_BEHIND, target="fragment", add_eos=False),),
    source="arXiv:1905.02450, sec. 3.2",
)

DISCRETE_MASK = SPAN_MASK.variant(
    name="discrete mask",
    aliases=("MASS discrete", "MASS with single tokens"),
    stages=(ChooseTokens(mask_ratio=0.5, num_special_tokens=0), *SPAN_MASK.stages[1:]),
    idea="Replace half of the words, at random positions, by a mask each; a decoder writes them in order.",
    loss="Mean cross-entropy of the hidden words, given the corrupted text and the words just before each so far.",
    terms=(
        Term.by(
            partial(written, fragment=DISCRETE),
            WRITTEN,
            {
                "x_{s-1}": "the word before a hidden one, which the decoder reads instead of what it wrote last",
                **SIGN_BEHIND,
            },
            target="fragment",
            add_eos=False,
        ),
    ),
    source="arXiv:1905.02450, sec. 4.5 (Discrete)",
)
