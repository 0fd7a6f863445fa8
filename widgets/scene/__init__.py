"""The stage: one drawing module and the hosts that show it (importing this does not import Panel)."""

from widgets.scene.hosts import (
    StageWidget,
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
