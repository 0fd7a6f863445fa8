"""Activations kept while a model is tuned: what lies below all that learns is computed once per text."""

from collections.abc import Sequence

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.corpora.corpus import pick
from playground.finetuning.data.dataset import Dataset
from playground.models.model import LanguageModel

BLOCK = 32
"""Texts that are read at once."""


class ActivationCache:
    """The hidden states of a set of texts at some levels, `[r, t, d]` each; every text is read once.

    Texts are read in blocks that are always the same, so that no bit depends on the order of requests.
    """

    def __init__(self, texts: Tokens) -> None:
        self.texts = texts
        self.levels: dict[int, Tensor] = {}
        self.read: set[tuple[int, int]] = set()

    @torch.no_grad()
    def get(self, model: LanguageModel, levels: Sequence[int], rows: Tensor, on_host: Tensor) -> dict[int, Tensor]:
        """The levels of some texts, `[b, t, d]` each; `on_host` are the same `rows`, on the CPU."""
        for block in (on_host // BLOCK).unique().tolist():
            if all((level, block) in self.read for level in levels):
                continue
            some = torch.arange(block * BLOCK, min((block + 1) * BLOCK, len(self.texts.ids)), device=rows.device)
            states = model.hidden_states(pick(self.texts, some), last=max(levels))
            for level in levels:
                if level not in self.levels:
                    self.levels[level] = states[level].new_zeros(len(self.texts.ids), *states[level].shape[1:])
                self.levels[level][some] = states[level]
                self.read.add((level, block))
        return {level: self.levels[level][rows] for level in levels}

    def drop(self, lowest: int) -> None:
        """Forget this level and all above it, because something below them has changed."""
        self.levels = {level: states for level, states in self.levels.items() if level < lowest}
        self.read = {(level, block) for level, block in self.read if level < lowest}


class CachedReader:
    """Reads texts with a model that is being tuned, at the levels that its head needs.

    `shared` holds the hidden states of the pre-trained model, for all runs; `own` those of this run's copy. Nothing has
    changed yet up to the level `same`; levels above `quiet` are never kept.
    """

    def __init__(
        self, model: LanguageModel, needed: tuple[int, ...], shared: ActivationCache, same: int, quiet: int
    ) -> None:
        self.model, self.needed, self.same, self.quiet = model, needed, same, quiet
        self.shared, self.own = shared, ActivationCache(shared.texts)

    def read(self, texts: Dataset, frozen: int = -1) -> dict[int, Tensor]:
        """The levels that are needed; those up to `frozen` do not learn now (-1: all learn)."""
        known = self.kept(texts.tokens.example_ids, None if texts.host is None else texts.host.ids, frozen)
        return complete(self.model, texts.tokens, known, max(self.needed))

    def kept(self, rows: Tensor | None, on_host: Tensor | None, frozen: int) -> dict[int, Tensor]:
        """The needed levels of some texts that need not be computed again, the highest of them and those below."""
        first = min(frozen, self.quiet, max(self.needed))
        if first < 0:
            return {}
        assert rows is not None, "texts that are kept are numbered"
        levels = sorted({first, *(k for k in self.needed if k < first)})
        return (self.shared if first <= self.same else self.own).get(
            self.model, levels, rows, rows if on_host is None else on_host
        )

    def changed(self, lowest: int) -> None:
        self.same = min(self.same, lowest - 1)
        self.own.drop(lowest)


def complete(model: LanguageModel, tokens: Tokens, known: dict[int, Tensor], top: int) -> dict[int, Tensor]:
    """The known levels of some texts and all above the highest of them up to `top`; without any, all levels."""
    if top in known:
        return known
    first = max(known, default=0)
    return known | dict(enumerate(model.hidden_states(tokens, known.get(first), first, top), first))
