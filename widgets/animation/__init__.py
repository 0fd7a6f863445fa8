"""The stage: one drawing module and the hosts that show it (importing this does not import Panel)."""

from widgets.animation.edits import unheard
from widgets.animation.export_html import js, page, standalone
from widgets.animation.pane import cue, stage_pane
from widgets.animation.record import lockstep, typeset
from widgets.animation.static_svg import svg
from widgets.animation.widget import StageWidget, live_widget

__all__ = [
    "StageWidget",
    "cue",
    "js",
    "live_widget",
    "lockstep",
    "page",
    "stage_pane",
    "standalone",
    "svg",
    "typeset",
    "unheard",
]
