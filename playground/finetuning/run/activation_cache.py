"""Reading texts while a model is tuned: what lies below all that learns is computed once per text and kept."""

from collections.abc import Sequence

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.corpora.corpus import pick
from playground.models.model import LanguageModel

BLOCK = 32
"""Texts that are read at once."""


class ActivationCache:
    """What a model knows of a set of texts at some levels, `[r, t, d]` each; every text is read once.

    Texts are read in blocks that are always the same, so that no bit depends on who asked first.
    """

    def __init__(self, texts: Tokens) -> None:
        self.texts = texts
        self.levels: dict[int, Tensor] = {}
        self.there: dict[int, Tensor] = {}

    @torch.no_grad()
    def get(self, model: LanguageModel, wanted: Sequence[int], rows: Tensor) -> dict[int, Tensor]:
        """The levels of some texts, `[b, t, d]` each."""
        there = [self.there[k][rows] if k in self.there else torch.zeros_like(rows, dtype=torch.bool) for k in wanted]
        for block in (rows[~torch.stack(there).all(0)] // BLOCK).unique().tolist():
            last = min((block + 1) * BLOCK, len(self.texts.ids))
            whole = torch.arange(block * BLOCK, last, device=rows.device)
            states = model.hidden_states(pick(self.texts, whole), last=max(wanted))
            for level in wanted:
                self._put(level, whole, states[level])
        return {level: self.levels[level][rows] for level in wanted}

    def drop(self, lowest: int) -> None:
        """Forget this level and all above it, because something below them has changed."""
        for level in [k for k in self.levels if k >= lowest]:
            del self.levels[level], self.there[level]

    def _put(self, level: int, rows: Tensor, states: Tensor) -> None:
        if level not in self.levels:
            self.levels[level] = states.new_zeros(len(self.texts.ids), *states.shape[1:])
            self.there[level] = torch.zeros(len(self.texts.ids), dtype=torch.bool, device=states.device)
        self.levels[level][rows], self.there[level][rows] = states, True


class CachedReader:
    """Reads texts with a model that is being tuned, at the levels that its head needs.

    `shared` holds what the pre-trained model itself knows, for all lanes; `own` what this lane's copy knows. Up to
    which level nothing has changed yet is `same`; levels above `quiet` are never kept, because extra modules take part.
    """

    def __init__(
        self,
        model: LanguageModel,
        needed: tuple[int, ...],
        shared: ActivationCache,
        same: int,
        quiet: int,
        keeps: bool = True,
    ) -> None:
        self.model, self.needed, self.same, self.quiet, self.keeps = model, needed, same, quiet, keeps
        self.shared, self.own = shared, ActivationCache(shared.texts)

    def read(self, tokens: Tokens, frozen: int = -1) -> dict[int, Tensor]:
        """The levels that are needed; those up to `frozen` do not learn now (-1: all learn)."""
        return climbed(self.model, tokens, self.known(tokens.example_ids, frozen), max(self.needed))

    def known(self, rows: Tensor | None, frozen: int) -> dict[int, Tensor]:
        """What need not be computed anew of some texts: the levels that are needed, from the highest such one down."""
        first = min(frozen, self.quiet, max(self.needed))
        if first < 0 or not self.keeps:
            return {}
        assert rows is not None, "texts that are kept are numbered"
        wanted = sorted({first, *(k for k in self.needed if k < first)})
        kept = self.shared if first <= self.same else self.own
        return kept.get(self.model, wanted, rows)

    def changed(self, lowest: int) -> None:
        """Say that this level and all above it are no longer what they were."""
        self.same = min(self.same, lowest - 1)
        self.own.drop(lowest)


def climbed(model: LanguageModel, tokens: Tokens, known: dict[int, Tensor], top: int) -> dict[int, Tensor]:
    """The known levels of some texts and all above the highest of them up to `top`; without any, all levels."""
    if top in known:
        return known
    first = max(known, default=0)
    return known | dict(enumerate(model.hidden_states(tokens, known.get(first), first, top), first))
