"""Names of earlier versions: files that they wrote are read under the names of today."""

from collections.abc import Mapping
from typing import Any

from playground.objectives import Objective

RECIPE = {"rate": "lr", "matrix_rate": "muon_lr", "window": "seq_len"}
ARCHITECTURE = {"longest": "max_position_embeddings"}
SHARES = ("mask_ratio", "noise_density", "delete_ratio")
"""What was called `rate` in objectives."""


def renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The same values under the names of today."""
    return {names.get(name, name): value for name, value in values.items()}


def knobs_of(objective: Objective, values: Mapping[str, Any]) -> dict[str, Any]:
    """The knobs of an objective as an earlier version named them: its share of the tokens was a `rate` throughout."""
    return {_knob(objective, name): value for name, value in values.items()}


def _knob(objective: Objective, name: str) -> str:
    stage, dot, knob = name.rpartition(".")
    if knob != "rate":
        return name
    today = (f"{stage}{dot}{share}" for share in SHARES) if stage != "ChooseDeleted" else iter(("delete_ratio",))
    return next((each for each in today if each in objective.knobs), name)
