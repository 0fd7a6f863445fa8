"""K039: some last words can be predicted only from far back."""

from typing import TYPE_CHECKING

from playground.claims import Arm, Claim, higher, lower
from playground.claims.figures.text import answered

if TYPE_CHECKING:
    from playground.claims.lab import Lab

DISTANCE = 18
"""Words between the last word of a text and the only word that decides it."""


def last_words(lab: "Lab", arm: Arm, seed: int) -> float:
    """The share of last words at the distance that are right, read with the window of the arm."""
    subject, corpus = lab.subject(arm, seed), lab.corpus(arm)
    rows = corpus.windows(subject.held_out.ids.shape[1], "held_out")
    answer = answered(subject, subject.objective.batch(rows, subject.rng("last words")))
    gap = rows.labels["gap"][answer.rows, answer.positions]
    asked = gap == corpus.label_names["gap"].index(str(DISTANCE))
    asked &= answer.positions > DISTANCE  # else the cue is not in the row
    right = answer.right()
    assert right is not None
    return float(right[asked].float().mean())


K039 = Claim(
    name="K039",
    title="LAMBADA asks for a long context",
    group="Direction and architecture",
    statement="The last words of LAMBADA can be predicted only with at least 50 tokens of context.",
    source="Weng, GPT-2, summary of tasks; Paperno et al., arXiv:1606.06031",
    prediction="A last word whose cue comes 18 words before it is right in most texts if the window covers the cue, "
    "and in less than a fifth if it does not.",
    otherwise="The window does not matter.",
    common=Arm("window LM", corpus="gaps", steps=300, figure="last words"),
    arms={"window of 32": {"settings": "sliding_window=32"}, "window of 8": {"settings": "sliding_window=8"}},
    rules=(higher("window of 32", 0.5), lower("window of 8", 0.2)),
    compute=last_words,
    unit="of the texts",
    scale="18 words where LAMBADA needs 50, and a cue that is repeated word by word. Two layers with a window of 8 "
    "reach back 15 words. 300 steps as in K023.",
    seeds=4,
    history=(
        "Seed 0 was seen with the instrument last word (0.8 at a distance of 28 with a window of 8); it reads without "
        "the window, so the figure is now computed with the window of the arm.",
    ),
)
