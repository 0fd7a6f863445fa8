"""Arrange a text as pairs of words that stand near each other."""

from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Spans, arange, language_ids_at, stream
from playground.knob import knob
from playground.objectives.ops.windows import describe_radii, draw_radii, override_radii, packed, window
from playground.objectives.stage import Arrange, PlanOverrides


@dataclass(frozen=True)
class ArrangeWindows(Arrange):
    """One position for every pair of a centre and a word near it (skip-gram, arXiv:1301.3781, sec. 3.2).

    It holds the centre, at the centre's own position; the word to be predicted is its span of one. Pairs come in the
    order of the text.
    """

    window_size: int = knob(
        5, 1, 10, unit="words to either side", why="A wide window finds topics, a narrow one syntax."
    )
    shrink_windows: bool = knob(True, why="Draw each centre's own radius from 1 up, so that near words count more.")
    keys = ("radius",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The radius of each word, `[b, t]`."""
        return draw_radii(batch, self.window_size, self.shrink_windows, rng)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        inputs, pad = batch.inputs, batch.tokens.specials.pad
        first, last = window(batch, plan)
        steps = torch.arange(-self.window_size, self.window_size + 1, device=inputs.ids.device)
        steps = steps[steps != 0]
        near = arange(inputs.ids.shape[1], inputs.ids.device)[:, None] + steps
        there = (near >= first[..., None]) & (near <= last[..., None])
        index, real = packed(there.flatten(1))
        centre = index // len(steps)
        context = near.flatten()[index] if near.numel() else index
        ids = inputs.ids.gather(1, centre).where(real, pad)
        origin = inputs.origin.gather(1, centre).where(real, -1)
        pairs = stream(ids, origin, real, language=language_ids_at(batch.tokens, origin))
        pairs = replace(pairs, position_ids=inputs.position_ids.gather(1, centre))
        named = inputs.origin.gather(1, context.clamp(min=0)).where(real, 0)
        return replace(batch, inputs=pairs, spans=Spans(named, real.long().masked_fill(~real, -1)))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        return override_radii(batch, overrides["radius"], self.window_size)

    describe_plan = staticmethod(describe_radii)
