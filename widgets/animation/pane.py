"""The stage and the survey's table as components of the served app."""

from collections.abc import Mapping
from typing import Any

import param

from widgets.animation.record import Record, typeset
from widgets.animation.widget import ESM
from widgets.panel_compat import Component


class StagePane(Component):
    """The stage in the served app."""

    _esm = ESM
    record = param.Dict(default={}, doc="The frames to draw.")
    frame = param.Integer(default=0, bounds=(0, None), doc="The frame that is shown.")
    playing = param.Boolean(default=False, doc="Whether the animation plays.")
    editable = param.Boolean(default=False, doc="Whether edits by hand are sent.")
    edit = param.Dict(default={}, doc="The last edits by hand.")
    cue = param.Dict(default={}, doc="The frame to go to, whether to play from there, layer and head; numbered.")


class TablePane(Component):
    """The survey's table in the served app."""

    _esm = ESM
    table = param.Dict(default={}, doc="The rows to draw.")
    opened = param.Dict(default={}, doc="The row that was opened last, and how many were opened.")


def stage_pane(record: Record | None = None, **parameters: Any) -> StagePane:
    """The stage with `record`, `frame` and `playing`."""
    return StagePane(**{"sizing_mode": "stretch_width", "record": typeset(record or {}), **parameters})


def table_pane(table: Mapping[str, Any], **parameters: Any) -> TablePane:
    """The survey's table."""
    return TablePane(**{"sizing_mode": "stretch_width", "table": dict(table), **parameters})


def cue(stage: StagePane, frame: int, playing: bool, **head: int) -> dict[str, Any]:
    """The parameters that send a stage to a frame, whatever the person does at the same moment.

    `layer` and `head`, from 0, are those whose weights are drawn; without them nothing changes there.

    `frame` and `playing` alone would not: a value that the app already has is not sent, also where the page has
    changed it and that change is still on its way.
    """
    number = stage.cue.get("number", 0) + 1
    return {"frame": frame, "playing": playing, "cue": {"number": number, "frame": frame, "playing": playing, **head}}
