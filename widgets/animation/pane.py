"""The stage in the served app; Panel is imported when the first one is made, not before."""

from functools import cache
from typing import TYPE_CHECKING, Any

from widgets.animation.record import Record, typeset
from widgets.animation.widget import ESM

if TYPE_CHECKING:
    from panel.custom import AnyWidgetComponent


@cache
def _pane_class() -> "type[AnyWidgetComponent]":
    import param

    from widgets.panel_compat import Component

    class StagePane(Component):
        """The stage in the served app."""

        _esm = ESM
        record = param.Dict(default={}, doc="The frames to draw.")
        frame = param.Integer(default=0, bounds=(0, None), doc="The frame that is shown.")
        playing = param.Boolean(default=False, doc="Whether the frames run on by themselves.")
        editable = param.Boolean(default=False, doc="Whether somebody listens to edits.")
        edit = param.Dict(default={}, doc="What the person last did by hand.")
        cue = param.Dict(default={}, doc="The frame to go to, and whether to play from there; numbered.")

    return StagePane


def stage_pane(record: Record | None = None, **parameters: Any) -> "AnyWidgetComponent":
    """The stage as a Panel component with `record`, `frame` and `playing`; Panel is imported here, not before."""
    return _pane_class()(**{"sizing_mode": "stretch_width", "record": typeset(record or {}), **parameters})


def cue(stage: "AnyWidgetComponent", frame: int, playing: bool) -> dict[str, Any]:
    """The parameters that send a stage to a frame, whatever the person does at the same moment.

    `frame` and `playing` alone would not: what is as the app already believes is not sent, also where the page has
    changed it and its word is still on the way.
    """
    number = stage.cue.get("number", 0) + 1
    return {"frame": frame, "playing": playing, "cue": {"number": number, "frame": frame, "playing": playing}}
