"""SentiLR: label-aware MLM with parts of speech and polarities."""

from playground.objectives.arrange import ArrangeDocument, ControlCode, WrapSpecials
from playground.objectives.ask import AskLabel, AskMasked
from playground.objectives.catalog.mlm import MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll
from playground.objectives.stage import Stage

POLARITIES = ("negative", "neutral", "positive")

PARTS_OF_SPEECH = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
"""The universal parts of speech (universaldependencies.org)."""


def label_term(name: str, set_: str = "M") -> Term:
    """The loss of a label of every word."""
    latex = rf"-\frac{{1}}{{|{set_}|}}\sum_{{t \in {set_}}}\log p(y^{{\mathrm{{{name}}}}}_t \mid \hat{{x}})"
    return Term(name, latex, symbols={"y_t": f"the {name} of the word at position t, as the corpus knows it"})


SENTIMENT = Term("polarity", r"-\log p(y \mid \hat{x})", symbols={"y": "how the whole text is meant: good or bad"})


def _label_aware(name: str, code: tuple[Stage, ...], label: tuple[Stage, ...], terms: tuple[Term, ...]) -> Objective:
    """One half of label-aware MLM: the text's own label stands in front, or is asked for there."""
    hidden = (ChooseTokens(), ChangeTokens(), SeeAll(), AskMasked(), AskLabel("pos", PARTS_OF_SPEECH))
    return Objective(
        name,
        (ArrangeDocument("polarity"), WrapSpecials(), *code, *hidden, *label),
        idea="Hide words of a text of known sentiment; guess each one and its part of speech.",
        loss="Mean cross-entropy of the hidden words and of their parts of speech.",
        terms=(*MLM.terms, label_term("pos"), *terms),
        source="arXiv:1911.02493, sec. 3",
        needs=("label:polarity", "label:pos"),
    )


LABEL_AWARE = mixture(
    "label-aware MLM",
    (
        (0.5, _label_aware("early fusion", (ControlCode("polarity"),), (), ())),
        (0.5, _label_aware("late supervision", (), (AskLabel("polarity", POLARITIES, "text"),), (SENTIMENT,))),
    ),
    aliases=("LA-MLM", "SentiLR", "SentiLARE"),
    group="With knowledge",
    idea=(
        "Hide words; guess each one and its part of speech. In half of the batches a token in front says whether the "
        "text is good or bad; in the other half the model predicts that too. No corpus here labels the polarity of "
        "single words."
    ),
    loss="Mean cross-entropy of the hidden words and their parts of speech; in half of the batches also of the label.",
    source="arXiv:1911.02493, sec. 3",
)
