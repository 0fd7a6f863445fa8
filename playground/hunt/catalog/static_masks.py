"""Masks that are drawn once, when the data set is prepared."""

from dataclasses import replace

from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.choose import ChooseTokens
from playground.zoo import Entry


def prepared_once(entry: Entry) -> Entry:
    """The same objective, with one choice for each text."""
    return exchange_stage(entry, ChooseTokens, lambda stage: replace(stage, dupe_factor=1))


def same_gaps(suspect: Suspect) -> float:
    """The share of the gaps of a text that it has again at the next visit."""
    first, second = (suspect.batch(64, draw).selected for draw in (0, 1))
    return float((first & second).sum() / first.sum())


STATIC_MASKS = Fault(
    name="masks that are drawn once",
    group="Data",
    symptom="The training loss keeps falling, but the held-out loss does not follow it.",
    explanation="The words were masked when the data set was prepared, so each epoch has the same gaps, and the model "
    "learns them by heart. Masks must be drawn when a batch is made.",
    repository="gzerveas/mvts_transformer",
    thread="https://github.com/gzerveas/mvts_transformer/issues/46",
    law="A text has other gaps each time it is read.",
    shows="the held-out loss less the training loss",
    figure=lambda suspect: suspect.figures["gap"],
    holds=lambda suspect: same_gaps(suspect) < 1,
    change_entry=prepared_once,
    settings="batch_size=128",
    corpus="clauses",
    steps=120,
)
