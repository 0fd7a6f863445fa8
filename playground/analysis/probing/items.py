"""What a probe classifies: words, pairs of words or whole sentences, each with a class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.errors import UserError
from playground.rng import generator

FEWEST = 5
"""Items of a class; rarer classes are left out, since a split would leave them on one side."""

MOST = 4000
"""Items that one probe is fitted and tested on; more would take seconds a level and change little."""


@dataclass(frozen=True)
class Texts:
    """A padded batch of texts with labels `[r, t]` (-1: none); `names` name the values that are classes.

    A probe is fitted on the first `fitted` rows and tested on the others; where it is 0 they are divided at random.
    """

    tokens: Tokens
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fitted: int = 0


@dataclass(frozen=True)
class Items:
    """The items of a probe: `rows` `[m]`, `positions` `[m, k]` and classes `labels` `[m]` with their `names`.

    k is 1 for words and 2 for pairs; a position of -1 is the mean over all words of the row. Items of one `types` `[m]`
    get the same random class in the control task. So many `rare` items more had a rare class. Probes are fitted on the
    items of the first `fitted` rows; 0 where the rows are divided at random.
    """

    rows: Tensor
    positions: Tensor
    labels: Tensor
    types: Tensor
    names: tuple[str, ...]
    rare: int = 0
    fitted: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    def features(self, states: Tensor, tokens: Tokens) -> Tensor:
        """The states `[m, k d]` of one level `[r, t, d]` that the probe reads, those of a pair one after the other."""
        if int(self.positions[0, 0]) < 0:
            real = tokens.valid[..., None].to(states)
            return ((states * real).sum(1) / real.sum(1))[self.rows]
        return states[self.rows[:, None], self.positions].flatten(1)

    def pick(self, which: Tensor) -> "Items":
        """The items at these indices."""
        parts = ("rows", "positions", "labels", "types")
        return replace(self, **{name: getattr(self, name)[which] for name in parts})

    def sample(self, seed: int) -> "Items":
        """At most `MOST` random items, in their order."""
        if len(self) <= MOST:
            return self
        return self.pick(torch.randperm(len(self), generator=generator(seed, "probe items"))[:MOST].sort().values)

    def control(self, seed: int) -> Tensor:
        """A random class for each type `[m]`, drawn as the true classes are spread (Hewitt and Liang, 1909.03368)."""
        kinds, number = self.types.unique(return_inverse=True)
        shares = torch.bincount(self.labels, minlength=len(self.names)).double()
        drawn = torch.multinomial(shares, len(kinds), replacement=True, generator=generator(seed, "control task"))
        return drawn[number]


def items_of(rows: Tensor, positions: Tensor, labels: Tensor, types: Tensor, names: Sequence[str]) -> Items:
    """Items without those that have no class (-1) or a rare one; the classes that are left are numbered from 0."""
    counts = torch.bincount(labels[labels >= 0], minlength=len(names))
    kept = (counts >= FEWEST).nonzero()[:, 0]
    if len(kept) < 2:
        raise UserError(
            f"There are {len(kept)} classes with at least {FEWEST} items; a probe needs two. Choose more text."
        )
    number = torch.full((len(names) + 1,), -1)
    number[kept] = torch.arange(len(kept))
    fresh = number[labels]
    known, rare = tuple(str(names[k]) for k in kept.tolist()), int(((labels >= 0) & (fresh < 0)).sum())
    every = Items(rows, positions.reshape(len(rows), -1), fresh, types, known, rare)
    return every.pick((fresh >= 0).nonzero()[:, 0])
