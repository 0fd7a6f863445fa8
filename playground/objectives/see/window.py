"""Attention masks of a bag of words: every word by itself, or the words around a position without its own."""

from dataclasses import dataclass, replace

from torch import Generator, Tensor

from playground.batch import AttentionMask, Batch, arange_rows, full_mask
from playground.knob import knob
from playground.objectives.ops.windows import describe_radii, draw_radii, override_radii, window, words_around
from playground.objectives.see.single_stack import with_mask
from playground.objectives.stage import PlanOverrides, See


@dataclass(frozen=True)
class SeeWindow(See):
    """A position sees the words near it and not its own (CBOW, arXiv:1301.3781, sec. 3.1).

    The radius belongs to the query, so of two neighbours one may see the other and not be seen.
    """

    window_size: int = knob(
        5, 1, 10, unit="words to either side", why="A wide window finds topics, a narrow one syntax."
    )
    shrink_windows: bool = knob(True, why="Draw each word's own radius from 1 up, so that near words count more.")
    keys = ("radius",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The radius of each word, `[b, t]`."""
        return draw_radii(batch, self.window_size, self.shrink_windows, rng)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        return _bag(batch, *window(batch, plan))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        return override_radii(batch, overrides["radius"], self.window_size)

    describe_plan = staticmethod(describe_radii)


@dataclass(frozen=True)
class SeeAllButSelf(See):
    """A position sees all words of its text but its own (context2vec, Melamud et al. 2016, sec. 2)."""

    def build(self, batch: Batch) -> Batch:
        return _bag(batch, *words_around(batch.inputs, batch.tokens.specials))


@dataclass(frozen=True)
class SeeSelf(See):
    """Every position sees only itself, so no context changes a word (skip-gram, arXiv:1301.3781, sec. 3.2)."""

    def build(self, batch: Batch) -> Batch:
        return with_mask(batch, self_mask(batch.inputs.valid))


def self_mask(real: Tensor) -> AttentionMask:
    """Every real position sees itself."""
    position = arange_rows(real)
    return replace(full_mask(real, True), window=(position, position), form="alone")


def _bag(batch: Batch, first: Tensor, last: Tensor) -> Batch:
    """Words by themselves, and a query that sees those from `first` to `last` `[b, n]` without its own position."""
    real = batch.inputs.valid
    query = replace(full_mask(real, True), window=(first, last), excluded=arange_rows(real), form="window")
    return replace(batch, inputs=replace(batch.inputs, attn_mask=self_mask(real), query_attn_mask=query))
