"""The table of the survey on the Stage page, and the way from a row to the stage."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from playground.errors import UserError
from playground.objectives import Objective, find_objective
from playground.objectives.plan_overrides import parse, settings_of, write
from playground.trace import rebuild
from playground.trace.rebuild import SENTENCE, Rebuilt
from widgets.state.stage.samples import offered, texts_for
from widgets.state.stage.texts import LETTERS, LONGEST_TEXT

if TYPE_CHECKING:
    from widgets.state.stage.store import StageStore

Rows = tuple[str, list[Rebuilt], list[tuple[Objective, str]]]
"""The survey's table: the text, the rows that could be made, and the objectives that the text cannot serve."""


def table(stage: "StageStore") -> Rows:
    """Every row of the survey's table for the text on the stage; of a text of ours, for the survey's sentence."""
    plan = stage.plan if stage.plan != stage.printed_plan else ""
    return _rows(*_texts(stage), stage.seed, plan and stage.objective, plan)


def _texts(stage: "StageStore") -> tuple[str, str]:
    ours = stage.text.strip() in offered("text")
    pair = "" if stage.pair.strip() in offered("pair") else stage.pair
    return (SENTENCE if ours else stage.text if stage.text.strip() else LETTERS)[:LONGEST_TEXT], pair[:LONGEST_TEXT]


def show(stage: "StageStore", name: str, beside: Sequence[str] = ()) -> None:
    """Open the stage of a row, and others: the same text, seed and plan; a row that lacks a text has a sample."""
    text, done, refused = table(stage)
    made = next((row for row in done if row.objective.name == name), None)
    printed = write(find_objective(name).printed.plan)
    if made is None:
        stage.own_text = {"text": stage.text, "pair": stage.pair} if any(o.name == name for o, _ in refused) else {}
        values = texts_for(name) | {"plan": printed}
    else:
        own = stage.plan if name == stage.objective and stage.plan != stage.printed_plan else ""
        as_printed = not stage.seed and not _texts(stage)[1] and text == SENTENCE
        values = {"text": made.text, "pair": made.pair, "plan": own or printed * as_printed}
    others = [each for each in beside or stage.compared if each != name]
    stage.change(objective=name, settings={}, painted={}, compared=others, view="stage", **values)  # one way back


@lru_cache(maxsize=8)  # visits begin with the same table; few texts of ended ones stay
def _rows(text: str, pair: str, seed: int, objective: str, plan: str) -> Rows:
    """The table of a text; a plan by hand is for the row of one objective."""
    plans = {objective: parse(settings_of(plan))} if plan else None
    try:
        return text, *rebuild.table(text, seed or None, plans, pair)
    except UserError:  # a plan that does not fit this text; a text that cannot be read is refused again
        return text, *rebuild.table(text, seed or None, None, pair)
