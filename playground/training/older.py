"""Names of earlier versions: files that they wrote are read under the names of today."""

from collections.abc import Iterator, Mapping
from typing import Any

from playground.knob import knobs
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
    return renamed(values, dict(_rates(objective)))


def _rates(objective: Objective) -> Iterator[tuple[str, str]]:
    """Both names that the share of a stage may have had, alone or behind its stage's name, and its name of today."""
    for stage in (stage for chain in objective.chains for stage in chain.stages):
        for share in (k.name for k in knobs(stage) if k.name in SHARES):
            kind = type(stage).__name__
            today = share if share in objective.knobs else f"{kind}.{share}"
            yield from (("rate", today), (f"{kind}.rate", today))
