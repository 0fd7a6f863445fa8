"""In a bidirectional LM the first layer is better at part of speech, the top layer at word sense."""

from collections.abc import Mapping
from typing import Any

from playground.claims import Arm, Claim, Lab, higher, lower


def first_minus_top(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of a probe on the first layer minus that on the top layer."""
    columns: Mapping[str, Any] = lab.finding(arm, seed).tables[0].columns
    rows = zip(columns["probe"], columns["accuracy"], strict=True)
    _, first, *_, top = [value for probe, value in rows if probe == "task"]
    return first - top


K125 = Claim(
    title="Syntax below, meaning above",
    source="Weng, ELMo; Peters et al., arXiv:1802.05365, sec. 5.3",
    prediction="A probe for part of speech is better on the first layer, one for the sense on the top layer.",
    otherwise="The same layer is better at both.",
    common=Arm(entry="BiLM", settings="kind=lstm", corpus="world"),
    arms={
        "part of speech": {"instrument": "probing classifier(task=part of speech)"},
        "sense": {"instrument": "probing classifier(task=sense)"},
    },
    rules=(higher("part of speech", 0.0), lower("sense", 0.0)),
    compute=first_minus_top,
    unit="accuracy, first layer minus top",
    published="Part of speech 97.3 below and 96.8 above; word sense 67.4 below and 69.0 above.",
    scale="Two LSTM layers in each direction. The grammar is small: most words have one part of speech, and the cue "
    "for a sense is in the same sentence.",
)
