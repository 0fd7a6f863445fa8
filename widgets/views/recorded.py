"""A run that was recorded: its curve stands faintly where a person's own will be, so that no chart is ever empty."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recorded:
    """The held-out loss of an entry on a corpus, in nats, at the beginning and after `every` so many steps."""

    entry: str
    corpus: str
    seed: int
    every: int
    held_out: tuple[float, ...]

    @property
    def name(self) -> str:
        """What the key of a chart calls it."""
        return f"recorded: {self.entry} on {self.corpus}, seed {self.seed}"

    @property
    def columns(self) -> dict[str, list[float]]:
        """Its points."""
        return {"step": [self.every * k for k in range(len(self.held_out))], "loss": list(self.held_out)}


RUN = Recorded(
    "BERT", "world", 0, 25,
    (
        6.624, 4.914, 4.166, 3.953, 3.659, 3.209, 2.804, 2.519, 2.264, 2.172, 2.097, 1.938, 1.951, 1.854,
        1.842, 1.801, 1.822, 1.739, 1.673, 1.682, 1.675, 1.616, 1.596, 1.578, 1.571, 1.564, 1.557, 1.523,
        1.498, 1.493, 1.469, 1.449, 1.417, 1.403, 1.404, 1.399, 1.384, 1.368, 1.367, 1.357, 1.347,
    ),
)  # fmt: skip
"""The run with which the Train page opens, on a CPU."""
