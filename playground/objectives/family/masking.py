"""What is hidden: fixed or fresh words, whole words, phrases, names, runs of words; and words put out of order."""

from dataclasses import replace

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked, AskMoved, AskSpanBoundary
from playground.objectives.change import ChangeTokens, ChangeTrigrams
from playground.objectives.choose import (
    ChooseGeometricSpans,
    ChooseNgrams,
    ChooseTokens,
    ChooseTrigrams,
    ChooseWholeUnits,
)
from playground.objectives.family.mlm import MLM
from playground.objectives.formula import Term
from playground.objectives.objective import Printed
from playground.objectives.see import SeeAll

STATIC_MLM = replace(
    MLM,
    name="static MLM",
    aliases=("static masking", "fixed masks"),
    row="",
    printed=Printed(),
    rank=100,
    stages=(ArrangeText(), ChooseTokens(dupe_factor=1), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide the same words of a text each time it is read; with more copies, a few choices in turn.",
    source="arXiv:1810.04805, sec. 3.1; arXiv:1907.11692, sec. 4.1",
)

WHOLE_WORDS = replace(
    STATIC_MLM,
    name="whole word masking",
    aliases=("BERT-wwm", "wwm", "whole words"),
    rank=101,
    stages=(ArrangeText(), ChooseWholeUnits("word"), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide all pieces of a word or none, so that no piece gives the others away.",
    loss="Mean cross-entropy of every piece of the chosen words given the corrupted text.",
    source="arXiv:1906.08101; BERT, released code",
)

PHRASES = replace(
    STATIC_MLM,
    name="phrase masking",
    aliases=("phrase-level masking",),
    rank=102,
    needs=("label:phrase",),
    stages=(ArrangeText(), ChooseWholeUnits("phrase", sampler="iid"), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide whole phrases, so that they must be guessed from the rest of the sentence.",
    loss="Mean cross-entropy of every word of the chosen phrases given the corrupted text.",
    source="arXiv:1904.09223, sec. 3.2.2",
)

ENTITIES = replace(
    STATIC_MLM,
    name="entity masking",
    aliases=("entity-level masking", "name masking"),
    rank=103,
    needs=("label:mention",),
    stages=(ArrangeText(), ChooseWholeUnits("entity", sampler="iid"), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide whole names, so that what is known of a person or place must give them back.",
    loss="Mean cross-entropy of every word of the chosen names given the corrupted text.",
    source="arXiv:1904.09223, sec. 3.2.3",
)

NGRAMS = replace(
    STATIC_MLM,
    name="n-gram masking",
    aliases=("ngrams",),
    rank=104,
    stages=(ArrangeText(), ChooseNgrams(), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide runs of one to three words, short ones more often.",
    source="arXiv:1909.11942, sec. 4.1; arXiv:1905.03197, sec. 2",
)

SPAN_MASKING = replace(
    STATIC_MLM,
    name="span masking",
    aliases=("random contiguous span masking", "geometric spans"),
    rank=105,
    stages=(
        ArrangeText(),
        ChooseGeometricSpans(),
        ChangeTokens(random_words_from="unigram", replace_unit="span"),
        SeeAll(),
        AskMasked(),
    ),
    idea="Hide runs of words, most of them short; each run is masked, replaced or kept as a whole.",
    source="arXiv:1907.10529, sec. 3.1",
)

SPAN_BOUNDARY = replace(
    SPAN_MASKING,
    name="SpanBERT",
    aliases=("span boundary objective", "SBO", "MLM + SBO"),
    rank=106,
    stages=(*SPAN_MASKING.stages, AskSpanBoundary()),
    idea="Hide runs of words; guess each word in its place, and again from the two words around its run.",
    loss="Mean cross-entropy of the hidden words in place, plus the same from the ends of their run.",
    terms=(
        *MLM.terms,
        Term(
            "span boundary",
            r"-\frac{1}{|B|}\sum_{i \in B}\log p(x_i \mid h_{s-1}, h_{e+1}, p_{i-s+1})",
            symbols={
                "h_{s-1}": "what the model knows at the word before the run",
                "h_{e+1}": "what it knows at the word behind the run",
                "p_{i-s+1}": "the number of the word within the run",
                "B": "the first words (15, the knob `sbo_max_length`) of each run with a word on both sides",
            },
        ),
    ),
    source="arXiv:1907.10529, sec. 3.1-3.2",
)

WORD_ORDER = Term(
    "word order",
    r"-\frac{1}{|S|}\sum_{t \in S}\log p(x_t \mid \hat{x})",
    symbols={"S": "the places of the shuffled runs", r"\hat{x}": "the text with hidden and shuffled words"},
)

WORD_STRUCTURE = replace(
    STATIC_MLM,
    name="word structure",
    aliases=("word structural objective", "StructBERT word objective", "span order recovery", "trigram shuffling"),
    group="Orders",
    rank=107,
    stages=(
        ArrangeText(),
        ChooseTokens(),
        ChangeTokens(),
        AskMasked(),
        ChooseTrigrams(),
        ChangeTrigrams(),
        SeeAll(),
        AskMoved(),
    ),
    idea="Hide some words and shuffle a few runs of three; name the hidden words and put the others back in order.",
    loss="Mean cross-entropy of the hidden words, plus that of the right word at each place of the shuffled runs.",
    terms=(*MLM.terms, WORD_ORDER),
    source="arXiv:1908.04577, sec. 2.2.1",
)
