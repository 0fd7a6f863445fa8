"""Change spans into markers."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.example import Action, Example, spoken, stream
from playground.knob import knob
from playground.objectives.choose.spans import inside
from playground.objectives.weave import weave


@dataclass(frozen=True)
class ChangeToMarkers:
    """Fold every span into one marker: the same [MASK] (BART) or a numbered sentinel each (T5, sec. 3.1.4)."""

    marker: str = knob("mask", choices=("mask", "sentinel"), why="Numbered markers say which gap an answer fills.")

    def build(self, example: Example) -> Example:
        spans, tokens = example.spans, example.tokens
        marked = spans.start.where(spans.length > 0, -1)
        woven = weave(example, tokens.real & ~example.chosen, markers(example, self.marker), marked)
        first = inside(replace(spans, length=spans.length.clamp(max=1)), tokens.ids.shape[1])
        action = torch.where(first, int(Action.MASKED), int(Action.DELETED)).where(example.chosen, example.action)
        inputs = stream(woven.ids, woven.origin, woven.real, language=spoken(tokens, woven.origin))
        return replace(example, action=action, inputs=inputs)


def markers(example: Example, kind: str) -> Tensor:
    """One marker id for every span, `[b, m]`: [MASK], or sentinels numbered from left to right."""
    specials, spans = example.tokens.specials, example.spans
    if kind == "mask":
        return torch.full_like(spans.start, specials.mask)
    number = (spans.there.long().cumsum(1) - 1).clamp(0, len(specials.sentinels) - 1)
    return torch.tensor(specials.sentinels, device=spans.start.device)[number]
