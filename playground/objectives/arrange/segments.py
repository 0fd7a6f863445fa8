"""Arrange the segments of a paragraph in another order."""

from dataclasses import dataclass, replace
from itertools import accumulate, permutations
from math import factorial
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot, pad

from playground.batch import Batch, arange, arange_rows, begin, language_ids_at, stream
from playground.errors import UserError
from playground.objectives.ops import sampling
from playground.objectives.stage import Arrange, PlanOverrides

MOST = 3
"""The most segments of a paragraph; the paper does not say how many."""

ORDERS = tuple(order for number in range(1, MOST + 1) for order in permutations(range(number)))
"""Every order of 1 to `MOST` segments: the old number of the segment at each new rank."""

NAMES = tuple(" ".join(str(segment + 1) for segment in order) for order in ORDERS)


@dataclass(frozen=True)
class ShuffledSegments:
    """The segment of each token `[b, t]`, and the number in `ORDERS` of the order in which they stand, `[b]`."""

    segment: Tensor
    order: Tensor


@dataclass(frozen=True)
class ArrangeSegments(Arrange):
    """A paragraph split into 1 to `MOST` segments of whole sentences, in a random order (arXiv:1907.12412, sec. 4.2.2).

    A special token stands in front and one behind each segment. The text stays as it is, and its label "order" is the
    number of the order.
    """

    keys = ("segments",)

    def plan(self, batch: Batch, rng: Generator) -> ShuffledSegments:
        sentence, count = _sentences(batch)
        rows = (len(sentence),)
        drawn = (sampling.noise(rows, rng) * MOST).long() + 1
        number = drawn.minimum(count.clamp(min=1))
        inner = (arange_rows(sentence) > 0) & (arange_rows(sentence) < count[:, None])
        cuts = sampling.exactly(number - 1, inner, rng)
        orders = torch.tensor([factorial(k) for k in range(MOST + 1)], device=number.device)
        before = torch.tensor([0, *accumulate(factorial(k) for k in range(MOST))], device=number.device) - 1
        order = before[number] + (sampling.noise(rows, rng) * orders[number]).long()
        return ShuffledSegments(cuts.long().cumsum(1).gather(1, sentence), order)

    def build(self, batch: Batch, plan: ShuffledSegments) -> Batch:
        tokens, specials = batch.tokens, batch.tokens.specials
        ranks = torch.tensor([_ranks(order) for order in ORDERS], device=plan.order.device)[plan.order]  # [b, MOST]
        rank = ranks.gather(1, plan.segment).masked_fill(~tokens.valid, MOST)
        order = rank.argsort(dim=1, stable=True)
        position = arange_rows(order) + 1 + rank.gather(1, order)
        width = tokens.ids.shape[1] + 1 + MOST
        origin = torch.full_like(pad(tokens.ids, (0, width + 1 - tokens.ids.shape[1])), -1)
        origin = origin.scatter(1, position.where(tokens.valid, width), order)[:, :width]
        size = one_hot(rank, MOST + 1)[..., :MOST].sum(1)
        number = (ranks < MOST).sum(1)
        closing = size.cumsum(1) + arange(MOST, size.device) + 1
        real = arange_rows(origin) < (tokens.lengths + 1 + number)[:, None]
        ids = pad(tokens.ids, (0, 1), value=specials.pad).gather(1, origin.where(origin >= 0, tokens.ids.shape[1]))
        ids = pad(ids, (0, 1)).scatter(
            1, closing.where(arange(MOST, size.device) < number[:, None], width), specials.sep
        )
        ids[:, 0] = specials.cls
        text = begin(replace(tokens, labels={**tokens.labels, "order": plan.order[:, None].expand(tokens.ids.shape)}))
        language = language_ids_at(tokens, origin)
        return replace(text, inputs=stream(ids[:, :width].where(real, specials.pad), origin, real, language=language))

    def override_plan(self, batch: Batch, plan: ShuffledSegments, overrides: PlanOverrides) -> ShuffledSegments:
        sentence, count = _sentences(batch)
        segments = [_range(words) for words in overrides["segments"]]
        in_order = sorted(segments)
        whole = [number for first, last in in_order for number in range(first, last + 1)]
        if len(segments) > MOST or whole != list(range(1, max(1, int(count[0])) + 1)):
            raise UserError(
                f"The segments are {', '.join(overrides['segments'])}; they must be at most {MOST}, such as 3,1-2, and "
                f"hold each of the {int(count[0])} sentences once."
            )
        starts = torch.tensor([first - 1 for first, _ in in_order[1:]], dtype=torch.long, device=sentence.device)
        order = ORDERS.index(tuple(in_order.index(each) for each in segments))
        segment = torch.searchsorted(starts, sentence.contiguous(), right=True)
        return ShuffledSegments(segment, torch.full_like(plan.order, order))

    def describe_plan(self, batch: Batch, plan: ShuffledSegments, row: int) -> dict[str, Any]:
        sentence, count = _sentences(batch)
        if not int(count[row]):
            return {}
        of = dict(zip(sentence[row].tolist(), plan.segment[row].tolist(), strict=True))
        ranges = []
        for segment in ORDERS[int(plan.order[row])]:
            own = [number + 1 for number in range(int(count[row])) if of[number] == segment]
            ranges.append(f"{own[0]}-{own[-1]}" if len(own) > 1 else str(own[0]))
        return {"segments": ranges}


def _ranks(order: tuple[int, ...]) -> list[int]:
    """The new rank of each segment; those that an order lacks are nowhere."""
    return [order.index(segment) if segment in order else MOST for segment in range(MOST)]


def _sentences(batch: Batch) -> tuple[Tensor, Tensor]:
    """The number of the sentence of each token `[b, t]`, from 0, and how many there are `[b]`."""
    tokens = batch.tokens
    sentence = (tokens.sentence_ids - tokens.sentence_ids[:, :1]).masked_fill(~tokens.valid, 0)
    count = pad(sentence + 1, (0, 1)).masked_fill(~pad(tokens.valid, (0, 1)), 0).amax(1)
    return sentence, count


def _range(words: str) -> tuple[int, int]:
    """The first and the last of some numbers such as "2" or "1-3"; a range of none where they are no numbers."""
    first, _, last = words.partition("-")
    return (int(first), int(last or first)) if first.isdigit() and (last or first).isdigit() else (0, 0)
