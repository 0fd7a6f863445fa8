"""Choose whole words, phrases or names."""

from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Tokens
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.choose.tokens import (
    Chosen,
    TokenChoice,
    bert_count,
    with_chosen,
)
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import MarkedSpans, marked_spans, spread
from playground.objectives.ops.sampling import first_of_rows

LABELS = {"word": (), "phrase": ("phrase",), "entity": ("mention",), "knowledge": ("mention", "phrase")}
"""The labels, running numbers over the units of a text, that each kind of unit is read from."""

SPARE = 4
"""How many positions are drawn beyond one and a half times the budget; the distribution does not depend on it."""


@dataclass(frozen=True)
class ChooseWholeUnits(TokenChoice):
    """Mark whole units: words (BERT-wwm, arXiv:1906.08101), phrases or names (ERNIE, arXiv:1904.09223, sec. 3.2).

    "knowledge" takes names, else phrases, else words. "budget" shuffles the units and takes each one that still fits
    into the share of tokens (BERT's released code), or with `truncate` each one until the share is full, the last
    one cut; "iid" takes each with the same probability (ERNIE, transformers) and cuts none.
    """

    unit: str = "word"
    mask_ratio: float = knob(0.15, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")
    sampler: str = knob(
        "budget", choices=("budget", "iid"), why="A budget is never exceeded; independent draws can exceed it."
    )
    truncate: bool = knob(False, why="Cut the first unit that does not fit the budget, instead of skipping it.")
    min_one: bool = knob(True, why="Always have a target: cut a unit if none fits, choose one if none was drawn.")
    num_special_tokens: int = knob(2, 0, 4, unit="tokens", why="BERT counts [CLS] and [SEP] when it takes its share.")

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        size = self.units(batch).size
        if self.sampler == "iid":
            begun = sampling.bernoulli(self.mask_ratio, size.numel(), rng)
            chosen = Chosen.at(spread(begun, size.flatten()[begun].long()), size)
            return self._or_one(chosen, size, rng) if self.min_one and self.mask_ratio else chosen
        budget = bert_count(self.mask_ratio, batch.maskable, self.num_special_tokens)
        if self.truncate:
            return Chosen.at(spread(*take_in_order(size, sampling.noise(tuple(size.shape), rng), budget)), size)
        taken = take_at_random(size, budget, batch.tokens, rng)
        if self.min_one:
            taken = at_least_one(taken, size, budget, rng)
        return Chosen.at(spread(taken.begun, taken.size), size)

    def _or_one(self, chosen: Chosen, size: Tensor, rng: Generator) -> Chosen:
        """The choice; where a row has none, any one of its units."""
        idle = (~chosen.positions.any(1)).nonzero()[:, 0]
        if not len(idle) or not size.shape[1]:
            return chosen
        return Chosen.at(torch.cat([chosen.flat_positions, spread(*any_one(size, idle, rng))]), size)

    def units(self, batch: Batch) -> MarkedSpans:
        """The units of each text; a special in the middle parts one in two."""
        number = unit_numbers(batch.tokens, self.unit)
        return marked_spans(batch, batch.maskable & (number >= 0), number)

    def build(self, batch: Batch, plan: Chosen) -> Batch:
        return with_chosen(batch, plan, batch.maskable)


def unit_numbers(tokens: Tokens, unit: str) -> Tensor:
    """A number for the unit of each token, `[b, t]`, below 0 for none; neighbours of one number are one."""
    for name in LABELS[unit]:
        if name not in tokens.labels:
            raise UserError(
                f"Choosing by {unit} needs the label {name!r} of every token, which this text does not have."
            )
    kinds = [tokens.labels[name] for name in LABELS[unit]]
    kinds += [] if unit in ("phrase", "entity") else [tokens.word_ids]
    if len(kinds) == 1:
        return kinds[0]
    number = torch.full_like(tokens.word_ids, -1)
    for position, kind in reversed(list(enumerate(kinds))):
        number = (kind * len(kinds) + position).where(kind >= 0, number)
    return number


def take_in_order(size: Tensor, noise: Tensor, budget: Tensor) -> tuple[Tensor, Tensor]:
    """The flat positions at which the taken units begin, and how much of each is taken, `[m]` each.

    Units of some sizes `[b, t]` come in the order of their `noise` until the budget `[b]` is spent; the last is cut.
    """
    order = noise.masked_fill(size == 0, 2.0).argsort(dim=1)
    whole = size.gather(1, order).long()
    left = budget[:, None] - (whole.cumsum(1) - whole)
    taken = torch.minimum(whole, left.clamp(min=0)).flatten()
    here = taken.nonzero()[:, 0]
    return (order + first_of_rows(size)[:, None]).flatten()[here], taken[here]


@dataclass(frozen=True)
class Taken:
    """Units that were taken: the flat positions at which they begin, and their sizes, `[m]`; of size 0 is no unit.

    `left` is what is left of each budget `[b]`, `coming` `[b, t]` the sizes of the units that have not come yet.
    """

    begun: Tensor
    size: Tensor
    left: Tensor
    coming: Tensor


def take_at_random(size: Tensor, budget: Tensor, tokens: Tokens, rng: Generator) -> Taken:
    """Units of some sizes `[b, t]` in a random order; each that still fits into the budget `[b]` is taken.

    Positions of the text drawn with replacement, without those where no unit begins and those that came before, are a
    random order. What is left open after so many draws, in few rows, is closed by taking one at random among the units
    that still fit until none does.
    """
    rows, width = tokens.ids.shape
    number = SPARE + int(budget.max()) * 3 // 2 if size.numel() else 0
    if tokens.padded:
        order = (sampling.noise((number, rows), rng) * tokens.lengths).long()
    else:
        order = torch.randint(max(1, width), (number, rows), generator=rng, device=rng.device)
    taken = take_what_fits(size, order, budget)
    unfilled = (taken.left > 0).nonzero()[:, 0]
    coming, left = taken.coming[unfilled], taken.left[unfilled]
    first, begun, sizes = first_of_rows(size)[unfilled], [taken.begun], [taken.size]
    while bool((fits := (coming <= left[:, None]) & (coming > 0)).any()):
        one = (sampling.noise(tuple(fits.shape), rng) + fits).argmax(1, keepdim=True)
        sizes.append((coming.gather(1, one) * fits.gather(1, one))[:, 0].long())
        begun.append(first + one[:, 0])
        coming, left = coming.scatter(1, one, 0), left - sizes[-1]
    return Taken(torch.cat(begun), torch.cat(sizes), taken.left.index_copy(0, unfilled, left), taken.coming)


def take_what_fits(size: Tensor, order: Tensor, budget: Tensor) -> Taken:
    """Units of some sizes `[b, t]` kept when their positions come in an order `[m, b]` and each must still fit.

    A unit that comes again has no size any more: it was taken, or it did not fit and never will. What is left would be
    negative where a unit does not fit, and without its sign bit that is more than there was.
    """
    positions, coming = order + first_of_rows(size), size.clone(memory_format=torch.contiguous_format)
    every, left = coming.view(-1), size.new_empty((len(order) + 1, len(size)))
    before, *after = left.unbind()
    before.copy_(budget)
    for position, now in zip(positions.unbind(), after, strict=True):
        one = every.index_select(0, position)
        every.index_fill_(0, position, 0)
        torch.minimum((before - one).bitwise_and_(2**15 - 1), before, out=now)
        before = now
    spent = (left[:-1] - left[1:]).flatten()
    here = spent.nonzero()[:, 0]
    return Taken(positions.flatten()[here], spent[here].long(), before.long(), coming)


def at_least_one(taken: Taken, size: Tensor, budget: Tensor, rng: Generator) -> Taken:
    """The same units; where a row has none because none fits, the beginning of any, as long as the budget."""
    idle = (taken.left == budget).nonzero()[:, 0]
    if not len(idle) or not size.shape[1]:
        return taken
    begun, whole = any_one(size, idle, rng)
    cut = torch.minimum(whole, budget[idle])
    return replace(taken, begun=torch.cat([taken.begun, begun]), size=torch.cat([taken.size, cut]))


def any_one(size: Tensor, rows: Tensor, rng: Generator) -> tuple[Tensor, Tensor]:
    """Any one unit of each of some rows: where it begins, flat, and its size; 0 where a row has none."""
    mine = size[rows]
    one = (sampling.noise(tuple(mine.shape), rng) + (mine > 0)).argmax(1)
    return first_of_rows(size)[rows] + one, mine.gather(1, one[:, None])[:, 0].long()
