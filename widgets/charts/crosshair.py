"""One cursor for several charts: where the pointer is in one of them, a line stands in all."""

from bokeh.models import CrosshairTool, Span
from bokeh.plotting import figure

from widgets.theme import GREY


class Cursor:
    """A vertical line that charts over the same steps share."""

    def __init__(self) -> None:
        self.line = Span(dimension="height", line_color=GREY, line_width=1, line_alpha=0.8)

    def link(self, *charts: figure) -> None:
        """Let the line stand in these charts too, and follow the pointer there."""
        for chart in charts:
            if not self._tools(chart):
                chart.add_tools(CrosshairTool(dimensions="height", overlay=self.line))

    def leave(self, chart: figure) -> None:
        """A chart that is drawn over something else takes no part."""
        chart.tools = [tool for tool in chart.tools if tool not in self._tools(chart)]

    def _tools(self, chart: figure) -> list[CrosshairTool]:
        return [tool for tool in chart.tools if isinstance(tool, CrosshairTool) and tool.overlay is self.line]
