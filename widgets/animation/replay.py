"""A training run as a page or a cell that needs neither kernel nor network: all moments packed into the markup."""

from collections.abc import Sequence
from typing import Any

from playground.training.observe.replay import Replay
from widgets.animation import export_html
from widgets.animation.record import typeset
from widgets.animation.static_svg import still

MOST_POINTS = 400  # of the training curve; more could not be distinguished on screen


def page(replay: Replay) -> str:
    """A whole HTML document that replays a run."""
    return export_html.document(fragment(replay), str(replay.record["title"]))


def fragment(replay: Replay, instead: str = "", module: bool = True, reserve: str = "") -> str:
    """The replay where scripts run; elsewhere the markup `instead`, or its last moment as picture and table."""
    return export_html.fragment("replay", instead or still(typeset(replay.last)), packed(replay), module, reserve)


def packed(replay: Replay) -> dict[str, Any]:
    """The story as compressed JSON, the attention as compressed bytes."""
    curve = replay.curve
    story = {
        "record": typeset({key: value for key, value in replay.last.items() if key != "numbers"}),
        "moments": [{key: value for key, value in m.items() if key != "attention"} for m in replay.moments],
        "curve": {
            "training": _thin(curve.training),
            "held_out": [[step, round(loss, 4)] for step, loss in curve.held_out],
            "levels": dict(curve.levels),
            "target": curve.target,
            "unit": curve.unit,
        },
    }
    attention = {
        name: {"shape": list(weights.shape), "data": export_html.packed(weights.contiguous().cpu().numpy().tobytes())}
        for name, weights in replay.attention.items()
        if weights.numel()
    }
    return {"story": export_html.packed(story), "attention": attention}


def _thin(points: Sequence[tuple[int, float]]) -> list[list[float]]:
    """The early steps one by one, later ones in ever larger groups, each the mean of its losses."""
    kept: list[list[float]] = []
    start = 0
    while start < len(points):
        group = points[start : start + max(1, round(start * 8 / MOST_POINTS))]
        kept.append([group[-1][0], round(sum(loss for _, loss in group) / len(group), 4)])
        start += len(group)
    return kept
