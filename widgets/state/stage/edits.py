"""What a person does on the stage: every message of the picture and what it changes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from playground.errors import UserError
from playground.objectives import find_objective, objectives
from playground.objectives.plan_overrides import parse, settings_of, write
from playground.objectives.steps import describe_plan
from playground.rng import next_seed
from playground.trace import frames
from playground.trace.overrides import natural
from playground.trace.plan_edits import bend, carriers, cells_of, number
from widgets.state.stage import suggestions
from widgets.state.stage.texts import opening_plan

if TYPE_CHECKING:
    from widgets.state.stage.store import StageStore


def act(stage: "StageStore", message: Mapping[str, Any]) -> None:
    """One message: an edit of the plan or the mask, a new sample, undo, a fork, another objective."""
    try:
        match message.get("do"):
            case "fork":
                stage.said = stage.forker()
            case "compare":
                suggestions.compare(stage)
            case _ if not stage.inside:  # the batch of a run is not edited
                _edit(stage, message)
    except UserError as refusal:
        stage.trouble = str(refusal)


def _edit(stage: "StageStore", message: Mapping[str, Any]) -> None:
    match message.get("do"):
        case "roll":
            stage.change(seed=next_seed(stage.seed), plan="")
        case "undo" | "redo" as way:
            stage.go_back(-1 if way == "undo" else 1)
        case "paint":
            _paint(stage, message)
        case "set":
            _set_knob(stage, message)
        case "unpaint":
            stage.painted = {}
        case "reset":
            stage.change(settings={}, plan=opening_plan(stage, {"text": stage.text}), painted={})
        case "objective":  # the keys 1 to 9 and 0 choose the first rows of the survey's table
            rows = [o.name for o in objectives().values() if o.row]
            stage.objective = rows[(number(message, "to") - 1) % 10]
        case "look":
            stage.layer = number(message, "layer")
            stage.renew()
        case _:
            _edit_plan(stage, message)


def _edit_plan(stage: "StageStore", message: Mapping[str, Any]) -> None:
    if (made := stage.plain) is None:
        return
    plan, everyone = describe_plan(made.steps), made.objective.proposes
    words = parse(settings_of(stage.plan)).get("replace", [])
    typed = dict(zip(carriers(plan, everyone), words, strict=False))
    bent = bend(plan, message, typed, everyone)
    drawn = describe_plan(stage.rebuild(bent.plan).steps) if bent.typed else {}
    stage.plan = write(bent.complete(drawn, everyone))


def _set_knob(stage: "StageStore", message: Mapping[str, Any]) -> None:
    """Set a knob on the stage; the plan of the picture stays, so that nothing else changes."""
    if (made := stage.plain) is None:
        return
    settings = {**stage.settings, str(message.get("knob")): message.get("to")}
    find_objective(stage.objective).turn(settings)
    stage.change(settings=settings, plan=write(describe_plan(made.steps)))


def _paint(stage: "StageStore", message: Mapping[str, Any]) -> None:
    """Set cells of the mask by hand; one that is as the objective has it is no longer by hand."""
    name, made = str(message.get("matrix")), stage.plain
    if name.endswith(frames.ABOVE):
        raise UserError("Paint the matrices of the first layer; those above follow the turned order.")
    cells = natural(made.batch).get(name, []) if made is not None else []
    mine = {(i, j): allowed for i, j, allowed in stage.painted.get(name, [])}
    for cell in cells_of(message):
        query, key, allowed = (number(dict(enumerate(cell)), k) for k in range(3))
        if not (0 <= query < len(cells) and 0 <= key < len(cells[0])):
            raise UserError(f"There is no cell {query + 1}.{key + 1} in the matrix {name!r} to paint.")
        mine[query, key] = bool(allowed)
    left = [(i, j, allowed) for (i, j), allowed in sorted(mine.items()) if bool(cells[i][j]) != allowed]
    others = {key: cells for key, cells in stage.painted.items() if key != name}
    stage.painted = others | ({name: left} if left else {})
