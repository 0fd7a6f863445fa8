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
        7.203, 5.948, 4.672, 4.677, 4.653, 4.538, 4.426, 4.357, 4.311, 4.152, 4.021, 3.961, 3.833, 3.714,
        3.571, 3.457, 3.399, 3.273, 3.164, 3.050, 2.930, 2.881, 2.807, 2.759, 2.664, 2.574, 2.554, 2.498,
        2.492, 2.440, 2.365, 2.305, 2.244, 2.245, 2.207, 2.191, 2.158, 2.142, 2.120, 2.116, 2.106,
    ),
)  # fmt: skip
"""The run with which the Train page opens, on a CPU."""
