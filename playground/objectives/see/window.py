"""See a bag of words: every word by itself, or the words around a place without the word that stands there."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import AttentionMask, Batch, Stream, arange_rows, full_mask
from playground.knob import knob
from playground.objectives.ops.windows import Radii, draw_radii, tell_radii, window, wished_radii, words_around
from playground.objectives.stage import See, Wishes


@dataclass(frozen=True)
class SeeWindow(See):
    """A place sees the words near it and not its own (CBOW, arXiv:1301.3781, sec. 3.1).

    The radius belongs to the place that looks, so of two neighbours one may see the other and not be seen.
    """

    window_size: int = knob(
        5, 1, 10, unit="words to either side", why="A wide window finds topics, a narrow one syntax."
    )
    shrink_windows: bool = knob(True, why="Draw each word's own radius from 1 up, so that near words count more.")
    keys: ClassVar[tuple[str, ...]] = ("radius",)

    def plan(self, example: Batch, rng: Generator) -> Radii:
        return draw_radii(example, self.window_size, self.shrink_windows, rng)

    def build(self, example: Batch, plan: Radii) -> Batch:
        return replace(example, inputs=_bag(example.inputs, *window(example, plan)))

    def revise(self, example: Batch, plan: Radii, wanted: Wishes) -> Radii:
        return wished_radii(example, wanted["radius"], self.window_size) if "radius" in wanted else plan

    def tell(self, example: Batch, plan: Radii, row: int) -> dict[str, Any]:
        return {"radius": tell_radii(example, plan, row)}


@dataclass(frozen=True)
class SeeAllButSelf(See):
    """A place sees all words of its text but its own (context2vec, Melamud et al. 2016, sec. 2)."""

    def build(self, example: Batch) -> Batch:
        first, last = words_around(example.inputs, example.tokens.specials.unknown)
        return replace(example, inputs=_bag(example.inputs, first, last))


@dataclass(frozen=True)
class SeeSelf(See):
    """Every place sees only itself, so a word is the same wherever it stands (skip-gram, arXiv:1301.3781, sec. 3.2)."""

    def build(self, example: Batch) -> Batch:
        return replace(example, inputs=replace(example.inputs, attn_mask=alone(example.inputs.valid)))


def alone(real: Tensor) -> AttentionMask:
    """Every real place sees itself."""
    place = torch.arange(real.shape[1], device=real.device).expand(real.shape)
    return replace(full_mask(real, True), window=(place, place), form="alone")


def _bag(inputs: Stream, first: Tensor, last: Tensor) -> Stream:
    """Words by themselves, and a query that sees those from `first` to `last` without its own place."""
    place = arange_rows(inputs.ids)
    query = replace(full_mask(inputs.valid, True), window=(first, last), excluded=place, form="window")
    return replace(inputs, attn_mask=alone(inputs.valid), query_attn_mask=query)
