"""The model as a stack of boxes: how much each may change now, and how far it has moved (exact zeros where frozen)."""

from collections.abc import Sequence
from html import escape

from torch import Tensor

from widgets.static.svg import shortened
from widgets.theme import BLUE, VERMILION

ROW, BOX, BAR, WIDE, TOP = 23, 152, 74, 300, 40


def markup(
    groups: Sequence[str], plan: Tensor, step: int, moved: Sequence[float] = (), sizes: Sequence[int] = ()
) -> str:
    """Every layer group as a box, the lowest at the bottom, painted by its share of the highest multiplier at a step.

    At the right stands the distance from the start, a bar and a number; what is new has no start. Where the `sizes` of
    the groups are known, the bar above is the share of all weights that may change now.
    """
    column = plan[:, min(max(step, 1), plan.shape[1]) - 1].tolist()
    top, far = max(float(plan.max()), 1e-12), max([*moved, 1e-12])
    parts = [_words(1, 12, "the model now", "label"), _words(BOX + 14, 12, "distance from the start", "label")]
    parts += _learning(column, sizes) if sizes else [_words(1, 29, "learns where it is filled", "label")]
    for place, index in enumerate(reversed(range(len(groups)))):
        y = TOP + place * ROW
        parts.append(_box(shortened(groups[index], groups), column[index], column[index] / top, y))
        if index < len(moved):
            parts.append(_moved(groups[index], moved[index], moved[index] / far, y))
    height = TOP + len(groups) * ROW
    known = [*moved, *[None] * len(groups)]
    told = "; ".join([*map(_said, groups, column, known), *([said_of(column, sizes)] if sizes else [])])
    return (
        f'<svg viewBox="0 0 {WIDE} {height}" width="{WIDE}" height="{height}" style="max-width:100%;height:auto" '
        f'role="img" aria-label="{escape(told)}">{"".join(parts)}</svg>'
    )


def said_of(column: Sequence[float], sizes: Sequence[int]) -> str:
    """How many of all weights may change in a step, in words."""
    learns, every = _count(column, sizes), sum(sizes)
    return f"{learns:,} of {every:,} weights may change ({_percent(learns / every)})"


def _count(column: Sequence[float], sizes: Sequence[int]) -> int:
    return sum(size for size, multiplier in zip(sizes, column, strict=True) if multiplier != 0.0)


def _percent(share: float) -> str:
    """A share that is neither nothing nor everything never looks like it."""
    return f"{100 * share:g} %" if share in (0.0, 1.0) else f"{min(99.9, max(0.1, 100 * share)):.1f} %"


def _learning(column: Sequence[float], sizes: Sequence[int]) -> list[str]:
    """A bar of all weights, filled as far as they may change now, with the share beside it."""
    share = _count(column, sizes) / sum(sizes)
    place = 'x="1" y="20" height="11" rx="2"'
    frame = f'<rect {place} width="{BOX}" fill="none" stroke="currentColor" stroke-opacity=".4"/>'
    filled = f'<rect {place} width="{BOX * share:.1f}" fill="{BLUE}"/>'
    words = f"{_percent(share)} of {sum(sizes):,} weights"
    told = f"<title>{escape(said_of(column, sizes))}</title>"
    return [f"<g>{told}{filled}{frame}</g>", _words(BOX + 14, 30, words)]


def _box(group: str, multiplier: float, share: float, y: float) -> str:
    frozen = multiplier == 0.0
    dash = ' stroke-dasharray="3 3"' if frozen else ""
    rate = "frozen" if frozen else f"× {multiplier:.3g}"
    return (
        f'<rect x="1" y="{y}" width="{BOX}" height="{ROW - 4}" rx="3" fill="{BLUE}" fill-opacity="{0.75 * share:.3f}" '
        f'stroke="{BLUE}" stroke-opacity=".8"{dash}/>'
        + _words(8, y + 13.5, group)
        + _words(BOX - 7, y + 13.5, rate, anchor="end")
    )


def _moved(group: str, distance: float, share: float, y: float) -> str:
    if not group.startswith(("embeddings", "encoder", "decoder")):
        return _words(BOX + 14, y + 13.5, "new, no start", "faint")
    said = "0 (bit-identical)" if distance == 0.0 else f"{distance:.2f}" if distance >= 0.01 else f"{distance:.1g}"
    bar = f'<rect x="{BOX + 14}" y="{y + 4}" width="{BAR * share:.1f}" height="{ROW - 12}" fill="{VERMILION}"/>'
    return bar + _words(BOX + 19 + BAR * share, y + 13.5, said)


def _said(group: str, multiplier: float, distance: float | None) -> str:
    now = "frozen" if multiplier == 0.0 else f"learns at {multiplier:.3g}"
    return f"{group} {now}" + (f", moved {distance:.2f}" if distance is not None else "")


def _words(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    faint = ' fill-opacity=".62"' if kind else ""
    return (
        f'<text x="{x:.1f}" y="{y}" font-size="11" text-anchor="{anchor}" fill="currentColor"{faint}>'
        f"{escape(text)}</text>"
    )
