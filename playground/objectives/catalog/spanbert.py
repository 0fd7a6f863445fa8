"""SpanBERT: span masking and the span boundary objective."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked, AskSpanBoundary
from playground.objectives.catalog.mlm import MLM
from playground.objectives.catalog.static_mlm import STATIC_MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseGeometricSpans
from playground.objectives.formula import Term
from playground.objectives.see import SeeAll

SPAN_MASKING = STATIC_MLM.variant(
    name="span masking",
    aliases=("random contiguous span masking", "geometric spans"),
    stages=(
        ArrangeText(),
        ChooseGeometricSpans(),
        ChangeTokens(random_words_from="unigram", replace_unit="span"),
        SeeAll(),
        AskMasked(),
    ),
    idea="Hide spans of words, most of them short; each span is masked, replaced or kept as a whole.",
    source="arXiv:1907.10529, sec. 3.1",
)

SPAN_BOUNDARY = SPAN_MASKING.variant(
    name="SpanBERT",
    aliases=("span boundary objective", "SBO", "MLM + SBO"),
    stages=(*SPAN_MASKING.stages, AskSpanBoundary()),
    idea="Hide spans of words; predict each word at its own position, and again from the two words around its span.",
    loss="Mean cross-entropy of the hidden words at their own positions, plus the same from the ends of their span.",
    terms=(
        *MLM.terms,
        Term(
            "span boundary",
            r"-\frac{1}{|B|}\sum_{i \in B}\log p(x_i \mid h_{s-1}, h_{e+1}, p_{i-s+1})",
            symbols={
                "h_{s-1}": "the hidden state of the word before the span",
                "h_{e+1}": "the hidden state of the word after the span",
                "p_{i-s+1}": "the number of the word within the span",
                "B": "the first words (15, the knob sbo_max_length) of each span with a word on both sides",
            },
        ),
    ),
    source="arXiv:1907.10529, sec. 3.1-3.2",
)
