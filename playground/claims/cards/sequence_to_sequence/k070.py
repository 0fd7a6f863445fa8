"""To undo deletion a model must find the positions of missing words; to undo infilling, their number; to undo rotation,
the start of the text."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.noise import gap_f1, start_accuracy, written

CONTROL = "token masking"
"""A noise that shows where each missing word was, how many there were, and where the text begins."""


def own_noise(lab: Lab, arm: Arm, seed: int) -> float:
    """How much better a model that was trained with a noise undoes it than one that was trained with masks."""
    measure = start_accuracy if arm.figure == "document rotation" else gap_f1
    own, control = (
        measure(*written(lab, replace(arm, entry=entry), seed, arm.figure))
        for entry in (f"{arm.figure} objective", f"{CONTROL} objective")
    )
    return own - control


K070 = Claim(
    title="What each noise of BART teaches",
    source="Qiu et al., sec. 3.1.4; Lewis et al., arXiv:1910.13461, sec. 2.2",
    prediction="A model that was trained with a noise does this clearly better than one that was trained with one mask "
    "for each missing word: F1 of missing words, or accuracy of the first word, by 0.1 or more.",
    otherwise="A model that was trained with masks does one of the three as well.",
    common=Arm(entry="token masking objective", corpus="reviews", steps=120),
    arms={
        "deletion: positions": {"figure": "token deletion"},
        "infilling: number": {"figure": "BART infilling"},
        "rotation: start": {"figure": "document rotation"},
    },
    compute=own_noise,
    rules=(
        higher("deletion: positions", 0.0, by=0.1),
        higher("infilling: number", 0.0, by=0.1),
        higher("rotation: start", 0.0, by=0.1),
    ),
    seeds=4,
    unit="F1, or accuracy of the first word",
    scale="Words are predicted with the right ones before them given. After 120 steps tiny models have only begun to "
    "learn to copy, so all figures are low.",
)
