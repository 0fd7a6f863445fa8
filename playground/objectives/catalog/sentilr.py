"""SentiLR: label-aware MLM, which reads and predicts the part of speech and the polarity of words."""

from playground.objectives.arrange import ArrangeDocument, WrapSpecials
from playground.objectives.ask import AskLabel, AskMasked
from playground.objectives.catalog.mlm import MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll, SeeLabels
from playground.objectives.stage import Stage

POLARITIES = ("negative", "neutral", "positive")

PARTS_OF_SPEECH = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
"""The universal parts of speech (universaldependencies.org)."""


def label_term(name: str, set_: str = "M") -> Term:
    """The loss of a label of every word."""
    latex = rf"-\frac{{1}}{{|{set_}|}}\sum_{{t \in {set_}}}\log p(y^{{\mathrm{{{name}}}}}_t \mid \hat{{x}})"
    return Term(name, latex, symbols={"y_t": f"the {name} of the word at position t, as labelled in the corpus"})


LABELS = (("pos", PARTS_OF_SPEECH), ("word_polarity", POLARITIES))
"""What is read with each visible word and predicted for each hidden one; the polarity is that of the word alone."""

SENTIMENT = Term("polarity", r"-\log p(y \mid \hat{x})", symbols={"y": "the sentiment of the whole text: good or bad"})


def _label_aware(name: str, seen: tuple[Stage, ...], asked: tuple[Stage, ...], terms: tuple[Term, ...]) -> Objective:
    """One part of label-aware MLM: the label of the text is read with every word, or predicted in front."""
    words = (*(SeeLabels(*label) for label in LABELS), *seen, AskMasked(), *(AskLabel(*label) for label in LABELS))
    return Objective(
        name,
        (ArrangeDocument("polarity"), WrapSpecials(), ChooseTokens(), ChangeTokens(), SeeAll(), *words, *asked),
        idea="Hide words of a text of known sentiment; predict each one, its part of speech and its polarity.",
        loss="Mean cross-entropy of the hidden words, of their parts of speech and of their polarities.",
        terms=(*MLM.terms, *(label_term(label) for label, _ in LABELS), *terms),
        source="arXiv:1911.02493, sec. 3",
        needs=("label:polarity", *(f"label:{label}" for label, _ in LABELS)),
    )


LABEL_AWARE = mixture(
    "label-aware MLM",
    (
        (0.8, _label_aware("early fusion", (SeeLabels("polarity", POLARITIES, "text"),), (), ())),
        (0.2, _label_aware("late supervision", (), (AskLabel("polarity", POLARITIES, "text"),), (SENTIMENT,))),
    ),
    aliases=("LA-MLM", "SentiLR", "SentiLARE"),
    group="With knowledge",
    idea=(
        "Read each word with its part of speech and its polarity, good, bad or neutral. Hide words and predict all "
        "three. In four of five batches the model also reads whether the whole text is good or bad; in the fifth it "
        "predicts that."
    ),
    loss=(
        "Mean cross-entropy of the hidden words, plus that of their parts of speech, plus that of their polarities; in "
        "a fifth of the batches also that of the label of the text."
    ),
    source="arXiv:1911.02493, sec. 3 and released code",
)
