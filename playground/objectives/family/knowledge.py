"""Objectives that ask for what a corpus knows: sentiment, part of speech, meaning, which names are right."""

from playground.objectives.arrange import ArrangeDocument, ArrangeText, ControlCode, WrapSpecials
from playground.objectives.ask import AskLabel, AskMasked, AskReplaced
from playground.objectives.change import ChangeEntities, ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.family.mlm import MLM
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll
from playground.objectives.stage import Stage

GROUP = "With knowledge"

POLARITIES = ("negative", "neutral", "positive")

PARTS_OF_SPEECH = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
"""The universal parts of speech (universaldependencies.org)."""

SUPERSENSES = tuple("act animal artifact body food group nature person place plant substance time other".split())


def _label(name: str, set_: str = "M") -> Term:
    latex = rf"-\frac{{1}}{{|{set_}|}}\sum_{{t \in {set_}}}\log p(y^{{\mathrm{{{name}}}}}_t \mid \hat{{x}})"
    return Term(name, latex, symbols={"y_t": f"the {name} of the word at place t, as the corpus knows it"})


SENTIMENT = Term("polarity", r"-\log p(y \mid \hat{x})", symbols={"y": "how the whole text is meant: good or bad"})


def _label_aware(name: str, code: tuple[Stage, ...], label: tuple[Stage, ...], terms: tuple[Term, ...]) -> Objective:
    """One half of label-aware MLM: the text's own label stands in front, or is asked for there."""
    hidden = (ChooseTokens(), ChangeTokens(), SeeAll(), AskMasked(), AskLabel("pos", PARTS_OF_SPEECH))
    return Objective(
        name,
        (ArrangeDocument("polarity"), WrapSpecials(), *code, *hidden, *label),
        idea="Hide words of a text of known sentiment; guess each one and its part of speech.",
        loss="Mean cross-entropy of the hidden words and of their parts of speech.",
        terms=(*MLM.terms, _label("pos"), *terms),
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
    group=GROUP,
    rank=108,
    idea=(
        "Hide words; guess each one and its part of speech. In half of the batches a sign in front says whether the "
        "text is good or bad, in the other half that is to be guessed too. No corpus here knows how single words "
        "are meant."
    ),
    loss="Mean cross-entropy of the hidden words and their parts of speech; in half of the batches also of the label.",
    source="arXiv:1911.02493, sec. 3",
)

SUPERSENSE = Objective(
    name="supersense prediction",
    aliases=("SenseBERT", "supersenses"),
    group=GROUP,
    rank=109,
    needs=("label:supersense",),
    stages=(
        ArrangeText(),
        ChooseTokens(),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
        AskLabel("supersense", SUPERSENSES),
    ),
    idea="Hide words; guess each one and the kind of thing it means, such as an animal or a food.",
    loss="Mean cross-entropy of the hidden words, plus that of the classes of their meanings.",
    terms=(*MLM.terms, _label("supersense")),
    source="arXiv:1908.05646, sec. 3",
)

ENTITY_REPLACEMENT = Objective(
    name="entity replacement",
    aliases=("entity replacement detection", "WKLM", "ERD", "MLM + ERD"),
    group="Replaced or not",
    rank=110,
    needs=("label:mention", "label:entity", "label:entity_type"),
    stages=(
        ArrangeText(),
        ChooseTokens(mask_ratio=0.05, outside="mention"),
        ChangeTokens(mask_replace_prob=0.9, random_replace_prob=0.0),
        AskMasked(),
        ChangeEntities(),
        SeeAll(),
        AskReplaced(weight=1.0, where="mentions"),
    ),
    idea="Replace some names by others of the same kind; say of each name whether it is the right one.",
    loss="Mean cross-entropy of a few hidden words, plus the mean yes-or-no loss at every name.",
    terms=(
        *MLM.terms,
        Term(
            "replaced?",
            r"-\frac{1}{|E|}\sum_{e \in E}\log p(y_e \mid \hat{x})",
            symbols={"E": "the names of the text", "y_e": "1 where another name stands in the place of e"},
        ),
    ),
    source="arXiv:1912.09637, sec. 2",
)
