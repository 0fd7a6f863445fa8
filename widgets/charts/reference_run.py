"""A recorded run, whose curve stands faintly where a person's own will be, so that no chart is ever empty."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recorded:
    """The held-out loss of an entry on a corpus, in nats, at the beginning and after `every` so many steps."""

    entry: str
    corpus: str
    seed: int
    every: int
    held_out: tuple[float, ...]


RUN = Recorded(
    "RoBERTa", "world", 0, 25,
    (
        7.113, 5.129, 4.320, 4.175, 3.815, 3.317, 2.973, 2.701, 2.485, 2.289, 2.188, 2.044, 1.982, 1.891,
        1.861, 1.766, 1.747, 1.726, 1.716, 1.639, 1.653, 1.597, 1.613, 1.568, 1.545, 1.497, 1.453, 1.427,
        1.470, 1.446, 1.404, 1.408, 1.413, 1.378, 1.349, 1.350, 1.337, 1.341, 1.324, 1.311, 1.309,
    ),
)  # fmt: skip
"""The run with which the Train page opens, on a CPU."""
