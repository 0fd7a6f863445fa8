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
        6.665, 4.955, 4.220, 4.023, 3.652, 3.166, 2.789, 2.515, 2.291, 2.202, 2.110, 1.982, 1.969, 1.889, 1.866,
        1.853, 1.809, 1.816, 1.732, 1.746, 1.708, 1.698, 1.651, 1.620, 1.598, 1.599, 1.603, 1.568, 1.531, 1.514,
        1.526, 1.483, 1.484, 1.491, 1.467, 1.466, 1.444, 1.430, 1.421, 1.414, 1.409,
    ),
)  # fmt: skip
"""The run with which the Train page opens, on a CPU."""
