"""The masks of one text at its first visits: static, of four copies, dynamic (RoBERTa, arXiv:1907.11692, sec. 4.1)."""

import base64
from dataclasses import replace

import torch

from playground.batch import Action, Tokens
from playground.corpora.corpus import pick
from playground.objectives.objective import Objective
from playground.rng import generator
from playground.trace.json_schema import MaskHistory

VISITS = 10
"""Readings of the sentence in the history of a mask."""

STRIPS = (("Static", 1), ("Four copies", 4), ("Dynamic", 0))
"""The name of a strip, and how many fixed masks each text has (0: a new one at every visit)."""

SHOWN = (Action.KEPT, Action.MASKED, Action.RANDOMISED, Action.SCORED_AS_IS)
"""What may have become of a word, by its number in the history."""


def mask_history(objective: Objective, tokens: Tokens, seed: int) -> MaskHistory | None:
    """The masks of the same text at its first visits, static and dynamic; None without such a choice."""
    if "dupe_factor" not in objective.knobs:
        return None
    same = torch.zeros(VISITS, dtype=torch.long)
    visits = replace(pick(tokens, same), example_ids=same, epoch=torch.arange(VISITS))
    length, states = int(tokens.lengths[0]), []
    for _, copies in STRIPS:
        drawn = objective.turn({"dupe_factor": copies}).batch(visits, generator(seed, "film")).actions.tolist()
        states.append(bytes(SHOWN.index(a) if a in SHOWN else 1 for row in drawn for a in row[:length]))
    if not any(map(any, states)):
        return None
    return {
        "words": [str(tokens.vocabulary[i]) for i in tokens.ids[0, :length].tolist()],
        "strips": [
            {"title": name, "copies": copies, "states": base64.b64encode(found).decode()}
            for (name, copies), found in zip(STRIPS, states, strict=True)
        ],
    }
