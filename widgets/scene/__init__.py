"""The stage: one drawing module and the hosts that show it (importing this does not import Panel)."""

from widgets.scene.hosts import StageWidget, js, page, stage_pane, standalone, svg

__all__ = ["StageWidget", "js", "page", "stage_pane", "standalone", "svg"]
