"""UniLM: the same cloze under four masks, drawn for every row or for every batch."""

from dataclasses import replace
from functools import partial

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskMasked
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture, renamed
from playground.objectives.objective import Objective
from playground.objectives.see import SampleMask, SeeAll, SeeLeft, SeePrefix, SeeRight
from playground.objectives.stage import Stage
from playground.objectives.symbols import IN_LAYERS, one_sided

GROUP = "Two texts"


def cloze(see: Stage) -> tuple[Stage, ...]:
    """Hidden words in both texts of a pair, answered at their own places under a mask."""
    return (ArrangePair(("next",)), ChooseTokens(num_special_tokens=3), ChangeTokens(), see, AskMasked())


def term(context: str) -> tuple[Term, ...]:
    """The one term of each form: what a hidden word is predicted from."""
    return (Term("hidden words", rf"-\frac{{1}}{{|M|}}\sum_{{t \in M}}\log p(x_t \mid {context})"),)


UNILM = Objective(
    name="UniLM",
    aliases=("unified language model",),
    group=GROUP,
    needs=("pair",),
    stages=cloze(SampleMask()),
    idea="Hide words in two texts; each row may look to both sides, to one, or from the second text to the first. The "
    "paper also hides a fifth of them as spans of two or three, and asks for the next sentence.",
    loss="Mean cross-entropy of the hidden words given what their row's mask lets them see of the corrupted texts.",
    terms=term(r"\hat{x}_{V(t)}"),
    source="arXiv:1905.03197, sec. 2.2-2.4",
)

BOTH_SIDES = replace(
    UNILM,
    name="UniLM both sides",
    aliases=("bidirectional cloze",),
    stages=cloze(SeeAll()),
    idea="Hide words in two texts and predict them from both texts.",
    loss="Mean cross-entropy of the hidden words given the corrupted texts.",
    terms=term(r"\hat{x}"),
    source="arXiv:1905.03197, sec. 2.2",
)

SEQ2SEQ = replace(
    BOTH_SIDES,
    name="UniLM seq2seq",
    aliases=("sequence-to-sequence cloze",),
    stages=cloze(SeePrefix("text")),
    idea="Hide words in two texts; the first text sees itself, the second the first and what stands to its left.",
    loss="Mean cross-entropy of the hidden words given the first text and, in the second, what stands to the left.",
    terms=term(r"\hat{x}_{A \cup \leq t}"),
)

LEFT_TO_RIGHT = replace(
    BOTH_SIDES,
    name="UniLM left to right",
    aliases=("left-to-right cloze",),
    stages=cloze(SeeLeft()),
    idea="Hide words in two texts and predict them from what stands to their left.",
    loss="Mean cross-entropy of the hidden words given what stands to their left.",
    terms=(Term.by(one_sided, "hidden words", IN_LAYERS, sliding_window=0),),
)

RIGHT_TO_LEFT = replace(
    BOTH_SIDES,
    name="UniLM right to left",
    aliases=("right-to-left cloze",),
    stages=cloze(SeeRight()),
    idea="Hide words in two texts and predict them from what stands to their right.",
    loss="Mean cross-entropy of the hidden words given what stands to their right.",
    terms=(Term.by(partial(one_sided, left=False), "hidden words", IN_LAYERS, sliding_window=0),),
)

UNILM_BY_BATCH = mixture(
    "UniLM by batch",
    tuple(
        (share, renamed(part, "hidden words", f"hidden words, {part.name.removeprefix('UniLM ')}"))
        for share, part in ((1 / 3, BOTH_SIDES), (1 / 3, SEQ2SEQ), (1 / 6, LEFT_TO_RIGHT), (1 / 6, RIGHT_TO_LEFT))
    ),
    aliases=("UniLM mixture per batch",),
    group=GROUP,
    idea="Hide words in two texts; each batch has one of the four masks, drawn by their published shares.",
    loss="Mean cross-entropy of the hidden words given what the mask of this batch lets them see, named by the mask.",
    source="arXiv:1905.03197, sec. 2.4",
)
