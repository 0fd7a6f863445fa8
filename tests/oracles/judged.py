"""Judged pairs, halves, sentences left as they are, readers apart: again, one row at a time, in slow lists.

`plan` holds the second text.
"""

from dataclasses import dataclass, replace

from playground.batch import Action
from tests.oracles import stages
from tests.oracles.stages import Asked, Row, Story, maskable, see_all, see_left
from tests.texts import SPECIALS

SIGNS = {"bert": (SPECIALS.cls, 1), "xlm": (SPECIALS.sep, 2)}


@dataclass
class Pair(Story):
    """Two texts in one; `first` is the length of the first, `turn` the first position of the second one's half."""

    first: int = 0
    turn: int = 0
    judged: int = -1


def laid_out(first, second, form, reset):
    """[CLS] A [SEP] B [SEP], or with a sign of its own before B."""
    sign, middle = SIGNS[form]
    ids = [sign, *first, *[SPECIALS.sep] * middle, *second, SPECIALS.sep]
    later = len(first)
    origin = [-1, *range(later), *[-1] * middle, *range(later, later + len(second)), -1]
    turn = len(first) + 2
    position = [k - turn if reset and k >= turn else k for k in range(len(ids))]
    return Row(ids, origin, position), turn


def _arrange_judged(stage, plan, story):
    row, turn = laid_out(story.text, plan["second"], stage.pair_format, stage.reset_position_ids)
    whole = stages.begin([*story.text, *plan["second"]])
    judged = max(story.labels[stage.label], default=-1)
    return Pair(**{**vars(whole), "inputs": row, "first": len(story.text), "turn": turn, "judged": judged})


def _arrange_half(stage, plan, story):
    whole = stages.begin([*story.text, *plan["second"]])
    first = len(story.text)
    row = Row([SPECIALS.cls, *story.text, SPECIALS.sep], [-1, *range(first), -1])
    chosen = [first > 0 and place >= first and yes for place, yes in enumerate(maskable(whole.text))]
    return Pair(**{**vars(whole), "inputs": row, "chosen": chosen, "first": first})


def _choose_intact(stage, plan, story):
    """Spans that stay are taken out of the list; their words are still chosen."""
    kept = [span for span, yes in zip(story.spans, plan, strict=False) if yes]
    done = list(story.done)
    for start, length in kept:
        done[start : start + length] = [Action.GRADED_AS_IS] * length
    return replace(story, spans=[s for s in story.spans if s not in kept], done=done)


def _see_apart(stage, plan, story):
    side = [place >= story.turn for place in range(len(story.inputs.ids))]
    return replace(story, sees={"inputs": [[a == b for b in side] for a in side]})


def _see_through_one(stage, plan, story):
    n, m = len(story.inputs.ids), len(story.decoder.ids)
    cross = [[place == 0 for place in range(n)] for _ in range(m)]
    return replace(story, sees={"inputs": see_all(n), "decoder": see_left(m), "cross": cross})


def _ask_pair(stage, plan, story):
    """One answer at the first sign, where both texts have a word and somebody knows it."""
    there = 0 < story.first < len(story.text) and 0 <= story.judged < len(stage.classes)
    rest = len(story.inputs.ids) - 1
    asked = Asked([story.judged if there else 0, *[0] * rest], [there, *[False] * rest], [-1] * (rest + 1))
    asked.reads = [[0, story.turn if there else 0], *[[0, 0]] * rest] if stage.apart else []
    return replace(story, asked=[*story.asked, asked])


def _ask_answer(stage, plan, story):
    said = [*plan["second"], *([SPECIALS.end] if stage.add_eos else [])]
    decoder = Row([SPECIALS.start, *said][: len(said)], [-1] * len(said))
    return replace(story, decoder=decoder, asked=[Asked(said, [True] * len(said), [-1] * len(said))])


ACTS = {
    "LabelledPair": _arrange_judged,
    "FirstOfPair": _arrange_half,
    "KeepSomeSentences": _choose_intact,
    "SeeWithinSegment": _see_apart,
    "SeeThroughOne": _see_through_one,
    "AskPair": _ask_pair,
    "AskAnswer": _ask_answer,
    "AskTranslation": _ask_answer,
}
