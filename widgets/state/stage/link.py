"""The state of the Stage page as the query of a link, and back."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playground.errors import UserError
from playground.objectives import Objective, find_objective, objectives
from playground.objectives.mask_overrides import read_cells, written_cells
from playground.parsing import LARGEST, parse_int
from widgets.state.stage.samples import offered, texts_for

if TYPE_CHECKING:
    from widgets.state.stage.store import StageStore


def written(stage: "StageStore") -> dict[str, str]:
    """What differs from the way the objective opens, also where it is 0, false or empty."""
    fresh = {**texts_for(stage.objective), "seed": 0, "objective": "MLM"}
    fresh |= {"plan": stage.printed_plan if stage.text.strip() in offered("text") else "", "same_plan": True}
    query = {name: str(getattr(stage, name)) for name in fresh if getattr(stage, name) != fresh[name]}
    knobs = find_objective(stage.objective).knobs
    turned = {k: v for k, v in stage.settings.items() if k in knobs and v != knobs[k].default}
    query |= {f"set.{name}": str(value) for name, value in turned.items()}
    query |= {f"paint.{name}": written_cells(cells) for name, cells in stage.painted.items()}
    query |= {"view": "table"} if stage.view == "table" else {}
    query |= {"tokens": stage.tokens} if stage.tokens else {}
    return query | ({"compare": ",".join(stage.compared)} if stage.compared else {})


def read(query: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """The values that a link names, and what is wrong with it; what cannot be read is left out."""
    trouble = ""
    try:
        objective = find_objective(query.get("objective", "MLM"))
    except UserError as refusal:
        objective, trouble = find_objective("MLM"), str(refusal)
    settings, refused = _settings(objective, {k[4:]: v for k, v in query.items() if k.startswith("set.")})
    values: dict[str, Any] = {name: query[name] for name in ("text", "pair", "plan", "frame") if name in query}
    if "text" in values and "plan" not in values and values["text"].strip() not in offered("text"):
        values["plan"] = ""
    with suppress(ValueError):
        values["seed"] = parse_int(query.get("seed", ""), 0, LARGEST)
    tokens = query.get("tokens", "")
    return {
        **values,
        "objective": objective.name,
        "settings": settings,
        "painted": {k[6:]: read_cells(v) for k, v in query.items() if k.startswith("paint.")},
        "compared": [name for name in query.get("compare", "").split(",") if name in objectives()][:3],
        "same_plan": query.get("same_plan") != "False",
        "tokens": tokens if re.fullmatch(r"[0-9]{1,4}(-[0-9]{1,4})?", tokens) else "",
        "view": "table" if query.get("view") == "table" else "stage",
    }, " ".join(filter(None, (trouble, *refused)))


def _settings(objective: Objective, asked: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The knobs that a link turns, each in its own type, and why others stay at their defaults."""
    settings, refused = {}, []
    for name, text in asked.items():
        try:
            settings[name] = objective.turn({name: text}).knobs[name].default
        except UserError as refusal:
            refused.append(str(refusal))
    return settings, refused
