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
        6.624, 4.907, 4.174, 3.965, 3.624, 3.172, 2.792, 2.516, 2.317, 2.204, 2.053, 1.962, 1.941, 1.822,
        1.830, 1.779, 1.780, 1.733, 1.691, 1.668, 1.646, 1.641, 1.604, 1.567, 1.583, 1.544, 1.525, 1.489,
        1.474, 1.462, 1.472, 1.459, 1.432, 1.404, 1.410, 1.383, 1.390, 1.370, 1.355, 1.351, 1.342,
    ),
)  # fmt: skip
"""The run with which the Train page opens, on a CPU."""
