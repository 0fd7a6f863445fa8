"""Curves that grow: new points are sent alone, and where there are none nothing is."""

from collections.abc import Mapping, Sequence

from bokeh.models import ColumnDataSource


def append(source: ColumnDataSource, columns: Mapping[str, Sequence], rollover: int | None = None) -> None:
    """Add points to a source, if there are any."""
    if any(map(len, columns.values())):
        source.stream(dict(columns), rollover)
