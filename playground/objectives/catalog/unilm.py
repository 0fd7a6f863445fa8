"""UniLM: the same cloze under four masks, which share the rows of every batch."""

from dataclasses import replace
from functools import partial
from typing import Literal

from playground.objectives.arrange import ArrangePair, ArrangeText
from playground.objectives.ask import AskMasked, AskPair
from playground.objectives.catalog.nsp import PAIR
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseNgrams
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture, renamed
from playground.objectives.objective import Objective
from playground.objectives.see import NumberSegments, SeeAll, SeeLeft, SeePrefix, SeeRight
from playground.objectives.stage import Stage
from playground.objectives.symbols import IN_LAYERS, one_sided

CHOOSE = ChooseNgrams(sampler="80/20", whole_words=False, num_special_tokens=3)
"""Single tokens in 80 % of the draws, else two or three together (sec. 2)."""


def cloze(see: Stage) -> tuple[Stage, ...]:
    """Hidden words in both texts of a pair, answered at their own positions under a mask."""
    return (ArrangePair(("next",)), CHOOSE, ChangeTokens(), see, AskMasked())


def term(context: str) -> tuple[Term, ...]:
    """The one term of each form: what a hidden word is predicted from."""
    return (Term("hidden words", rf"-\frac{{1}}{{|M|}}\sum_{{t \in M}}\log p(x_t \mid {context})"),)


BOTH_SIDES = Objective(
    name="UniLM both sides",
    aliases=("bidirectional cloze",),
    group="Two texts",
    needs=("pair",),
    stages=cloze(SeeAll()),
    idea="Hide words in two texts and predict them from both texts.",
    loss="Mean cross-entropy of the hidden words given the corrupted texts.",
    terms=term(r"\hat{x}"),
    source="arXiv:1905.03197, sec. 2.2",
)

SEQ2SEQ = BOTH_SIDES.variant(
    name="UniLM seq2seq",
    aliases=("sequence-to-sequence cloze",),
    stages=cloze(SeePrefix("text")),
    idea="Hide words in two texts; the first text sees itself; the second sees the first and the words to its left.",
    loss="Mean cross-entropy of the hidden words given the first text and, in the second, the words to the left.",
    terms=term(r"\hat{x}_{A \cup \leq t}"),
)

LEFT_TO_RIGHT = BOTH_SIDES.variant(
    name="UniLM left to right",
    aliases=("left-to-right cloze",),
    stages=cloze(SeeLeft()),
    idea="Hide words in two texts and predict them from the words to their left.",
    loss="Mean cross-entropy of the hidden words given the words to their left.",
    terms=(Term.by(one_sided, "hidden words", IN_LAYERS, sliding_window=0),),
)

RIGHT_TO_LEFT = BOTH_SIDES.variant(
    name="UniLM right to left",
    aliases=("right-to-left cloze",),
    stages=cloze(SeeRight()),
    idea="Hide words in two texts and predict them from the words to their right.",
    loss="Mean cross-entropy of the hidden words given the words to their right.",
    terms=(Term.by(partial(one_sided, left=False), "hidden words", IN_LAYERS, sliding_window=0),),
)


def one_text(see: Stage, kind: Literal["left", "right"]) -> tuple[Stage, ...]:
    """The same in a single text (sec. 2.1)."""
    choose = replace(CHOOSE, num_special_tokens=2)
    return (ArrangeText(add_special_tokens=True), choose, ChangeTokens(), see, NumberSegments(kind), AskMasked())


def judged(part: Objective) -> Objective:
    """The same for a pair of which it is also asked whether the second text follows the first (sec. 2)."""
    stages = (ArrangePair(("next", "other")), *part.stages[1:], AskPair(("Next Sent", "Random Sent")))
    return replace(part, stages=stages, terms=(*part.terms, *PAIR))


def counting(share: float, mask: str, part: Objective) -> Objective:
    """The same with a loss named by the mask, which counts by the mask's share of the rows."""
    return renamed(part, "hidden words", f"hidden words, {mask}", share)


TOLD_APART = (*SEQ2SEQ.stages[:-1], NumberSegments("seq2seq"), AskMasked())

PARTS = (
    (1 / 3, judged(counting(1 / 3, "both sides", BOTH_SIDES))),
    (1 / 3, counting(1 / 3, "seq2seq", replace(SEQ2SEQ, stages=TOLD_APART))),
    (1 / 6, counting(1 / 6, "left to right", replace(LEFT_TO_RIGHT, stages=one_text(SeeLeft(), "left")))),
    (1 / 6, counting(1 / 6, "right to left", replace(RIGHT_TO_LEFT, stages=one_text(SeeRight(), "right")))),
)
"""The objectives with their published shares (sec. 2.3); those of one side read one text."""

UNILM = mixture(
    "UniLM",
    PARTS,
    by_row=True,
    aliases=("unified language model",),
    group="Two texts",
    idea="Hide words and predict them from both sides, from one, or as sequence to sequence from the first text; the "
    "four masks share the rows of every batch. With both sides in view the pair is classified too.",
    loss="Mean cross-entropy of the hidden words under each mask, times the mask's share of the rows, plus that of "
    "the label of each pair with both sides in view.",
    source="arXiv:1905.03197, sec. 2, and the released code",
)
