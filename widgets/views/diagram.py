"""The model as a stack of boxes: how much each may change now, and how far it has moved (exact zeros where frozen)."""

from collections.abc import Sequence
from html import escape

from torch import Tensor

from widgets.theme import BLUE, VERMILION

ROW, BOX, BAR = 23, 150, 108


def markup(groups: Sequence[str], plan: Tensor, step: int, moved: Sequence[float] = ()) -> str:
    """Every layer group as a box, the lowest at the bottom, painted by its share of the highest multiplier at a step.

    At the right stands the distance from the start, a bar and a number; what is new has no start.
    """
    column = plan[:, min(max(step, 1), plan.shape[1]) - 1].tolist()
    top, far = max(float(plan.max()), 1e-12), max([*moved, 1e-12])
    parts = [_words(6, 12, "the model now", "label"), _words(BOX + 18, 12, "distance from the start", "label")]
    for place, index in enumerate(reversed(range(len(groups)))):
        y = 20 + place * ROW
        parts.append(_box(groups[index], column[index], column[index] / top, y))
        if index < len(moved):
            parts.append(_moved(groups[index], moved[index], moved[index] / far, y))
    height = 20 + len(groups) * ROW
    known = [*moved, *[None] * len(groups)]
    told = "; ".join(map(_said, groups, column, known))
    return (
        f'<svg viewBox="0 0 {BOX + BAR + 84} {height}" width="100%" style="max-width:{BOX + BAR + 84}px" '
        f'role="img" aria-label="{escape(told)}">{"".join(parts)}</svg>'
    )


def _box(group: str, multiplier: float, share: float, y: float) -> str:
    frozen = multiplier == 0.0
    dash = ' stroke-dasharray="3 3"' if frozen else ""
    rate = "frozen" if frozen else f"× {multiplier:.3g}"
    return (
        f'<rect x="1" y="{y}" width="{BOX}" height="{ROW - 4}" rx="3" fill="{BLUE}" fill-opacity="{0.75 * share:.3f}" '
        f'stroke="{BLUE}" stroke-opacity=".8"{dash}/>'
        + _words(8, y + 13.5, group.replace("encoder ", ""))
        + _words(BOX - 7, y + 13.5, rate, anchor="end")
    )


def _moved(group: str, distance: float, share: float, y: float) -> str:
    if not group.startswith(("embeddings", "encoder", "top")):
        return _words(BOX + 18, y + 13.5, "new, no start", "faint")
    said = "0, not one bit" if distance == 0.0 else f"{distance:.2f}" if distance >= 0.01 else f"{distance:.1g}"
    bar = f'<rect x="{BOX + 18}" y="{y + 4}" width="{BAR * share:.1f}" height="{ROW - 12}" fill="{VERMILION}"/>'
    return bar + _words(BOX + 22 + BAR * share, y + 13.5, said)


def _said(group: str, multiplier: float, distance: float | None) -> str:
    now = "frozen" if multiplier == 0.0 else f"learns at {multiplier:.3g}"
    return f"{group} {now}" + (f", moved {distance:.2f}" if distance is not None else "")


def _words(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    faint = ' fill-opacity=".62"' if kind else ""
    return (
        f'<text x="{x:.1f}" y="{y}" font-size="11" text-anchor="{anchor}" fill="currentColor"{faint}>'
        f"{escape(text)}</text>"
    )
