"""The stage: one drawing module and the hosts that show it (importing this does not import Panel)."""

from widgets.scene.hosts import (
    StageWidget,
    cue,
    js,
    live_widget,
    lockstep,
    page,
    stage_pane,
    standalone,
    svg,
    typeset,
    unheard,
)

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
