"""The stage: one drawing module and its hosts (importing this imports neither torch nor Panel, which `pane` needs)."""

from widgets.animation.export_html import js, page, standalone
from widgets.animation.record import typeset
from widgets.animation.schema import unheard
from widgets.animation.static_svg import svg
from widgets.animation.widget import StageWidget

__all__ = ["StageWidget", "js", "page", "standalone", "svg", "typeset", "unheard"]
