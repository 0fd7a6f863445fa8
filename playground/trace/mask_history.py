"""The film of a mask: one sentence read again and again, with one fixed choice, with a few in turn, with new ones."""

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from playground.batch import Action, Tokens
from playground.corpora.corpus import pick
from playground.rng import generator

if TYPE_CHECKING:
    from playground.objectives.objective import Objective

VISITS = 10
"""Readings of the sentence."""

STRIPS = (("Static", 1), ("Four copies", 4), ("Dynamic", 0))
"""The name of a strip, and how many choices each text has (0: a new one at every visit)."""

SHOWN = (Action.KEPT, Action.MASKED, Action.RANDOMISED, Action.GRADED_AS_IS)
"""What may have become of a word, by its number in the film."""


def film(objective: "Objective", tokens: Tokens, seed: int) -> dict[str, Any] | None:
    """The same text at its first ten visits, by how its choices are kept; None where there is no such choice."""
    if "dupe_factor" not in objective.knobs:
        return None
    visits = replace(
        pick(tokens, torch.zeros(VISITS, dtype=torch.long)), example_ids=torch.zeros(VISITS, dtype=torch.long)
    )
    visits = replace(visits, epoch=torch.arange(VISITS))
    strips = [(name, copies, _states(objective.turn({"dupe_factor": copies}), visits, seed)) for name, copies in STRIPS]
    if not any(any(states) for _, _, states in strips):
        return None
    return {
        "words": [str(tokens.vocabulary[i]) for i in tokens.ids[0, : int(tokens.lengths[0])].tolist()],
        "strips": [
            {"title": name, "copies": copies, "states": base64.b64encode(states).decode()}
            for name, copies, states in strips
        ],
    }


def _states(objective: "Objective", visits: Tokens, seed: int) -> bytes:
    """What became of each word, visit by visit."""
    drawn = objective.example(visits, generator(seed, "film"))
    length = int(visits.lengths[0])
    return bytes(SHOWN.index(a) if a in SHOWN else 1 for row in drawn.actions.tolist() for a in row[:length])
