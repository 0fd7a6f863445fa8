"""Pairs, first parts, languages and parts of mixtures again, one row at a time, in slow lists (see `oracles`).

`plan` holds what the oracle of a stage must know: the second texts by their names and the outcome that was drawn, or
the text in the language that was drawn.
"""

from dataclasses import replace

from playground.objectives.see.mixture import KINDS
from tests.oracles import directions, stages
from tests.oracles.judged import Pair
from tests.oracles.stages import Asked, Row
from tests.texts import SPECIALS

SIGNS = {"bert": ([SPECIALS.cls], 1, [SPECIALS.sep]), "sep": ([], 1, []), "xlm": ([SPECIALS.sep], 2, [SPECIALS.sep])}
"""What stands before the first text, how many signs between the two, what stands behind the second."""


def arrange_pair(first, second, form, swapped=False, reset=False):
    """The two texts between signs; also the first position that the second half counts as its own."""
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


def _see_prefix(stage, plan, story):
    if stage.second == "text":
        second = [position >= story.turn for position in range(len(story.inputs.ids))]
    else:
        second = [place >= 0 and story.chosen[place] for place in story.inputs.origin]
    return replace(story, sees={"inputs": directions.see_prefix(second)})


def _see_drawn(stage, plan, story):
    second = [position >= story.turn for position in range(len(story.inputs.ids))]
    return replace(story, sees={"inputs": directions.see_kind(KINDS[plan], second)})


def ask_continuation(text, chosen):
    """Every word but the last predicts its neighbour, where that neighbour is to be written."""
    ahead = [place + 1 for place in range(len(text))]
    graded = [place < len(text) and chosen[place] for place in ahead]
    targets = [text[place] if place < len(text) else SPECIALS.pad for place in ahead]
    return Asked(targets, graded, [place if yes else -1 for place, yes in zip(ahead, graded, strict=True)])


def _ask_continuation(stage, plan, story):
    return replace(story, asked=[*story.asked, ask_continuation(story.text, story.chosen)])


def _arrange_language(stage, plan, story):
    return stages.begin(*plan)


def _as_it_was(stage, plan, story):
    """Whose turn it is, and whether a model is told the language, is no part of a text's own story."""
    return story


ACTS = {
    "ArrangePair": _arrange_pair,
    "ArrangeLanguage": _arrange_language,
    "SampleTask": _as_it_was,
    "NumberSegments": _as_it_was,
    "SampleMask": _see_drawn,
    "DropLanguageIds": _as_it_was,
    "SeePrefix": _see_prefix,
    "AskContinuation": _ask_continuation,
}
