"""Pairs, halves, first parts, languages and kept sentences again, one row at a time, in slow lists (see `oracles`).

`plan` holds what the oracle of a stage must know: the second texts by their names and the outcome that was drawn, or
the text in the language that was drawn.
"""

from dataclasses import dataclass, replace

from playground.batch import Action
from tests.oracles import directions, stages
from tests.oracles.stages import Asked, Row, Story, maskable, see_all, see_left
from tests.texts import SPECIALS


@dataclass
class Pair(Story):
    """Two texts in one; `first` is the length of the first, `turn` the first position of the second one's half."""

    first: int = 0
    turn: int = 0
    judged: int = -1


SIGNS = {
    "bert": ([SPECIALS.cls], 1, [SPECIALS.sep]),
    "sep": ([], 1, []),
    "xlm": ([SPECIALS.sep], 2, [SPECIALS.sep]),
    "xlnet": ([], 1, [SPECIALS.sep, SPECIALS.cls]),
}
"""What stands before the first text, how many special tokens between the two, what stands behind the second."""


def arrange_pair(first, second, form, swapped=False, reset=False):
    """The two texts between special tokens; also the first position that the second half counts as its own."""
    front, gap, back = SIGNS[form]
    one = [(token, place) for place, token in enumerate(first)]
    two = [(token, place + len(first)) for place, token in enumerate(second)]
    left, right = (two, one) if swapped else (one, two)
    middle = [(SPECIALS.sep, -1)] * gap
    row = [*((sign, -1) for sign in front), *left, *middle, *right, *((sign, -1) for sign in back)]
    turn = len(front) + len(left) + 1
    position = [k - turn if reset and k >= turn else k for k in range(len(row))]
    return Row([token for token, _ in row], [place for _, place in row], position), turn


def second_text(outcome, near, plan):
    """What stands beside the first text: its neighbour in either order, or the text that the outcome names."""
    return plan[near] if outcome in ("next", "previous", "translation") else plan[outcome]


def _arrange_pair(stage, plan, story):
    outcome = stage.outcomes[plan["number"]]
    second = second_text(outcome, "next" if "next" in plan else "translation", plan)
    row, turn = arrange_pair(story.text, second, stage.pair_format, outcome == "previous", stage.reset_position_ids)
    whole = stages.begin([*story.text, *second])
    first = len(story.text)
    return Pair(**{**vars(whole), "inputs": row, "first": first, "turn": turn, "judged": plan["number"]})


def _arrange_judged(stage, plan, story):
    row, turn = arrange_pair(story.text, plan["second"], stage.pair_format, reset=stage.reset_position_ids)
    whole, judged = stages.begin([*story.text, *plan["second"]]), max(story.labels[stage.label], default=-1)
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
        done[start : start + length] = [Action.SCORED_AS_IS] * length
    return replace(story, spans=[s for s in story.spans if s not in kept], done=done)


def _see_apart(stage, plan, story):
    side = [place >= story.turn for place in range(len(story.inputs.ids))]
    return replace(story, sees={"inputs": [[a == b for b in side] for a in side]})


def _see_through_one(stage, plan, story):
    n, m = len(story.inputs.ids), len(story.decoder.ids)
    cross = [[place == 0 for place in range(n)] for _ in range(m)]
    return replace(story, sees={"inputs": see_all(n), "decoder": see_left(m), "cross": cross})


def _ask_pair(stage, plan, story):
    """One answer at the first special token, where both texts have a word and somebody knows it."""
    there = 0 < story.first < len(story.text) and 0 <= story.judged < len(stage.classes)
    rest = len(story.inputs.ids) - 1
    asked = Asked([story.judged if there else 0, *[0] * rest], [there, *[False] * rest], [-1] * (rest + 1))
    asked.reads = [[0, story.turn if there else 0], *[[0, 0]] * rest] if stage.apart else []
    return replace(story, asked=[*story.asked, asked])


def _ask_answer(stage, plan, story):
    said = [*plan["second"], *([SPECIALS.end] if stage.add_eos else [])]
    decoder = Row([SPECIALS.start, *said][: len(said)], [-1] * len(said))
    return replace(story, decoder=decoder, asked=[Asked(said, [True] * len(said), [-1] * len(said))])


def _see_prefix(stage, plan, story):
    if stage.second == "text":
        second = [position >= story.turn for position in range(len(story.inputs.ids))]
    elif stage.second == "blanks":
        second = [number > 0 for number in story.inputs.second]
    else:
        second = [place >= 0 and story.chosen[place] for place in story.inputs.origin]
    return replace(story, sees={"inputs": directions.see_prefix(second)})


def ask_continuation(text, chosen):
    """Every word but the last predicts its neighbour, where that neighbour is to be written."""
    ahead = [place + 1 for place in range(len(text))]
    scored = [place < len(text) and chosen[place] for place in ahead]
    targets = [text[place] if place < len(text) else SPECIALS.pad for place in ahead]
    return Asked(targets, scored, [place if yes else -1 for place, yes in zip(ahead, scored, strict=True)])


def _ask_continuation(stage, plan, story):
    return replace(story, asked=[*story.asked, ask_continuation(story.text, story.chosen)])


def _arrange_language(stage, plan, story):
    return stages.begin(*plan)


def _as_it_was(stage, plan, story):
    """Whose turn it is, and whether a model is told the language, is no part of a text's own story."""
    return story


ACTS = {
    "LabelledPair": _arrange_judged,
    "FirstOfPair": _arrange_half,
    "KeepSomeSentences": _choose_intact,
    "SeeWithinSegment": _see_apart,
    "SeeThroughOne": _see_through_one,
    "AskPair": _ask_pair,
    "AskAnswer": _ask_answer,
    "AskTranslation": _ask_answer,
    "ArrangePair": _arrange_pair,
    "ArrangeLanguage": _arrange_language,
    "SampleTask": _as_it_was,
    "NumberSegments": _as_it_was,
    "DropLanguageIds": _as_it_was,
    "SeePrefix": _see_prefix,
    "AskContinuation": _ask_continuation,
}
