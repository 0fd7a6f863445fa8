"""A training run as a page or a cell that needs neither kernel nor network: all moments packed into the markup."""

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import torch
from torch import Tensor

from playground.training.observe.replay import Replay
from widgets.animation.export_html import document, js
from widgets.animation.record import typeset
from widgets.animation.static_svg import still
from widgets.bundle import beside

REPLAY_ESM = beside(__file__, "js/replay.js")

MOST_POINTS = 400
"""Points of the training curve; more could not be told apart on screen."""


def page(replay: Replay) -> str:
    """A whole HTML document that replays a run."""
    return document(fragment(replay), str(replay.record["title"]))


def fragment(replay: Replay, instead: str = "") -> str:
    """The replay where scripts run; elsewhere the markup `instead`, or its last moment as picture and table."""
    name = f"replay-{uuid4().hex[:12]}"
    start = f'mountReplay(document.getElementById("{name}"), {js(packed(replay))});'
    return (
        f'<div id="{name}">{instead or still(typeset(replay.last))}</div>\n'
        f'<script type="module">\n{REPLAY_ESM}\n{start}\n</script>'
    )


def packed(replay: Replay) -> dict[str, Any]:
    """The story as compressed JSON, the attention as compressed differences from one moment to the next."""
    curve = replay.curve
    story = {
        "record": typeset({key: value for key, value in replay.last.items() if key != "numbers"}),
        "moments": [{key: value for key, value in m.items() if key != "attention"} for m in replay.moments],
        "curve": {
            "training": _thin(curve.training),
            "held_out": _rounded(curve.held_out),
            "levels": dict(curve.levels),
            "question": curve.question,
        },
    }
    return {
        "story": _pack(json.dumps(story, separators=(",", ":")).encode()),
        "attention": {
            name: {"shape": list(weights.shape), "data": _pack(_differences(weights))}
            for name, weights in replay.attention.items()
            if weights.numel()
        },
    }


def _differences(weights: Tensor) -> bytes:
    """Bytes `[moments, ...]` as what each adds to the moment before; bytes wrap round, so nothing is lost."""
    before = torch.cat([torch.zeros_like(weights[:1]), weights[:-1]])
    return (weights - before).contiguous().cpu().numpy().tobytes()


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _thin(points: Sequence[tuple[int, float]]) -> list[list[float]]:
    """The early steps one by one, later ones in ever larger groups, each the mean of its losses."""
    kept: list[list[float]] = []
    start = 0
    while start < len(points):
        size = max(1, round(start * 8 / MOST_POINTS))
        group = points[start : start + size]
        kept.append([group[-1][0], round(sum(loss for _, loss in group) / len(group), 4)])
        start += size
    return kept


def _rounded(points: Sequence[tuple[int, float]]) -> list[list[float]]:
    return [[step, round(loss, 4)] for step, loss in points]
