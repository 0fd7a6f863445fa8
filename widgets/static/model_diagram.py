"""The model as a stack of boxes: how much each may change now, and how far it has moved (exact zeros where frozen)."""

from collections.abc import Sequence
from html import escape

from torch import Tensor

from widgets.charts.columns import shares, shortened
from widgets.design_tokens import BLUE, VERMILION
from widgets.static.svg import rect, words

ROW, BOX, BAR, WIDE, TOP = 23, 152, 74, 300, 40

FAINT = ' fill-opacity=".62"'


def markup(
    groups: Sequence[str], plan: Tensor, step: int, moved: Sequence[float] = (), sizes: Sequence[int] = ()
) -> str:
    """Every layer group as a box, the lowest at the bottom, painted by its share of the highest multiplier at a step.

    At the right stands the distance from the start, a bar and a number; what is new has no start. Where the `sizes` of
    the groups are known, the bar above is the share of all weights that may change now.
    """
    at = min(max(step, 1), plan.shape[1]) - 1
    column, filled = plan[:, at].tolist(), shares(plan)[:, at].tolist()
    parts = [words(1, 12, "the model now", more=FAINT), words(BOX + 14, 12, "distance from the start", more=FAINT)]
    parts += _learning(column, sizes) if sizes else [words(1, 29, "filled: trainable", more=FAINT)]
    for position, index in enumerate(reversed(range(len(groups)))):
        y = TOP + position * ROW
        parts.append(_box(shortened(groups[index], groups), column[index], filled[index], y))
        if index < len(moved):
            parts.append(_moved(groups[index], moved[index], moved[index] / max([*moved, 1e-12]), y))
    height = TOP + len(groups) * ROW
    known = [*moved, *[None] * len(groups)]
    label = "; ".join([*map(_said, groups, column, known), *([said_of(column, sizes)] if sizes else [])])
    return (
        f'<svg viewBox="0 0 {WIDE} {height}" width="{WIDE}" height="{height}" style="max-width:100%;height:auto" '
        f'role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def said_of(column: Sequence[float], sizes: Sequence[int]) -> str:
    """How many of all weights may change in a step, in words."""
    return f"{_learns(column, sizes):,} of {sum(sizes):,} weights may change ({_percent(column, sizes)})"


def _learns(column: Sequence[float], sizes: Sequence[int]) -> int:
    return sum(size for size, multiplier in zip(sizes, column, strict=True) if multiplier != 0.0)


def _percent(column: Sequence[float], sizes: Sequence[int]) -> str:
    """The share of the weights that may change; one that is neither nothing nor everything never looks like it."""
    share = _learns(column, sizes) / sum(sizes)
    return f"{100 * share:g} %" if share in (0.0, 1.0) else f"{min(99.9, max(0.1, 100 * share)):.1f} %"


def _learning(column: Sequence[float], sizes: Sequence[int]) -> list[str]:
    """A bar of all weights, filled as far as they may change now, with the share beside it."""
    position = 'x="1" y="20" height="11" rx="2"'
    frame = f'<rect {position} width="{BOX}" fill="none" stroke="currentColor" stroke-opacity=".4"/>'
    filled = f'<rect {position} width="{BOX * _learns(column, sizes) / sum(sizes):.1f}" fill="{BLUE}"/>'
    title = f"<title>{escape(said_of(column, sizes))}</title>"
    beside = words(BOX + 14, 30, f"{_percent(column, sizes)} of {sum(sizes):,} weights")
    return [f"<g>{title}{filled}{frame}</g>", beside]


def _box(group: str, multiplier: float, share: float, y: float) -> str:
    dash, rate = ("", f"× {multiplier:.3g}") if multiplier else (' stroke-dasharray="3 3"', "frozen")
    box = rect(1, y, BOX, ROW - 4, BLUE, 0.75 * share, f' rx="3" stroke="{BLUE}" stroke-opacity=".8"{dash}')
    return box + words(8, y + 13.5, group) + words(BOX - 7, y + 13.5, rate, "end")


def _moved(group: str, distance: float, share: float, y: float) -> str:
    if not group.startswith(("embeddings", "encoder", "decoder")):
        return words(BOX + 14, y + 13.5, "new, no start", more=FAINT)
    said = "0 (bit-identical)" if distance == 0.0 else f"{distance:.2f}" if distance >= 0.01 else f"{distance:.1g}"
    bar = rect(BOX + 14, y + 4, BAR * share, ROW - 12, VERMILION)
    return bar + words(BOX + 19 + BAR * share, y + 13.5, said)


def _said(group: str, multiplier: float, distance: float | None) -> str:
    now = "frozen" if multiplier == 0.0 else f"learns at {multiplier:.3g}"
    return f"{group} {now}" + (f", moved {distance:.2f}" if distance is not None else "")
