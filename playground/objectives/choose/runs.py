"""Choose neighbours together."""

from dataclasses import dataclass, replace

import torch

from playground.batch import Batch, Spans
from playground.objectives.choose.spans import inside
from playground.objectives.stage import Choose


@dataclass(frozen=True)
class MergeAdjacent(Choose):
    """Chosen tokens that are neighbours become one span (T5's i.i.d. corruption, arXiv:1910.10683, sec. 3.3.2).

    There is a numbered marker for so many runs only; those that come after are given back to the text.
    """

    def build(self, example: Batch) -> Batch:
        chosen, most = example.selected, len(example.tokens.specials.sentinels)
        before = torch.cat([torch.zeros_like(chosen[:, :1]), chosen[:, :-1]], dim=1)
        opens = chosen & ~before
        number = opens.long().cumsum(1).clamp(max=most + 1) * chosen
        place = torch.arange(chosen.shape[1], device=chosen.device).expand_as(number)
        table = torch.zeros((len(number), most + 2), dtype=torch.long, device=number.device)
        start = table.scatter_add(1, number * opens, place * opens)
        length = table.scatter_add(1, number, chosen.long())[:, 1 : most + 1]
        spans = Spans(start[:, 1 : most + 1], length.where(length > 0, -1))
        return replace(example, spans=spans, selected=inside(spans, chosen.shape[1]))
