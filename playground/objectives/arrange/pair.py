"""Arrange two texts in one row, in their order, swapped, or with a random second one."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.batch import Batch, Stream, Tokens, arange, begin, gather_origin, language_ids_at, stream
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.ops import sampling
from playground.objectives.stage import Arrange, PlanOverrides

NAMES = {"next": "next", "apart": "apart", "other": "random", "previous": "reversed", "translation": "next"}
"""The names of the outcomes in a plan by hand."""

ALSO = {"random": "other", "reversed": "previous", "swapped": "previous", "in order": "next", "ordered": "next"}

RUNS = ("phrase", "mention")
"""Labels that number spans of words and are not classes."""

FORMS = {"bert": (1, 1, 1), "sep": (0, 1, 0), "xlm": (1, 2, 1), "xlnet": (0, 1, 2)}
"""How many special tokens stand before the first text, between the two, and after the second."""


@dataclass(frozen=True)
class ArrangePair(Arrange):
    """A text and a second one between special tokens; a coin picks the second (BERT, arXiv:1810.04805, sec. 3.1).

    Outcomes: "next" is the text's own continuation or translation, "apart" a text of its document that is no
    neighbour, "other" a text from another document, "previous" the same two in the other order. The two are one text
    from here on: A's positions first, then B's. "bert" writes [CLS] A [SEP] B [SEP], "sep" A [SEP] B (survey), "xlm"
    two separators in the middle (arXiv:1901.07291, released code), "xlnet" A [SEP] B [SEP] [CLS], the last of which
    is a segment of its own (arXiv:1906.08237, released code).
    """

    outcomes: tuple[str, ...] = ("next", "other")
    pair_format: str = knob("bert", choices=tuple(FORMS), why="Which special tokens are put around the two texts.")
    reset_position_ids: bool = knob(
        False, why="Count positions from 0 again in the second text, so that both texts use the same numbers."
    )
    keys = ("pair",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The index of the outcome of each pair, `[b]`."""
        return (sampling.noise((len(batch.tokens.ids),), rng) * len(self.outcomes)).long()

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        first = batch.tokens
        second = self._second(first, plan)
        tokens = joined(first, second)
        labels = {**tokens.labels, "pair": plan[:, None].expand(tokens.ids.shape)}
        text = begin(replace(tokens, labels=labels))
        swapped = plan == self._number("previous")
        return replace(text, inputs=self._laid_out(text, first.lengths, second.lengths, swapped))

    def _second(self, tokens: Tokens, number: Tensor) -> Tokens:
        near = tokens.neighbours.get("next") or tokens.neighbours.get("translation")
        if near is None:
            raise UserError("This objective needs pairs of texts; this corpus or text has none. Give a second text.")
        if "apart" in self.outcomes:
            near = either(number == self._number("apart"), tokens.neighbours["apart"], near)
        if "other" not in self.outcomes:
            return near
        return either(number == self._number("other"), tokens.neighbours["other"], near)

    def _number(self, outcome: str) -> int:
        return self.outcomes.index(outcome) if outcome in self.outcomes else -1

    def _laid_out(self, text: Batch, first: Tensor, second: Tensor, swapped: Tensor) -> Stream:
        """The positions of two texts of some lengths `[b]`; special tokens have no origin."""
        tokens, (lead, gap, tail) = text.tokens, FORMS[self.pair_format]
        left, right = second.where(swapped, first), first.where(swapped, second)
        column = arange(tokens.ids.shape[1] + lead + gap + tail, first.device).expand(len(first), -1)
        start = (lead + left + gap)[:, None]
        in_left = (column >= lead) & (column < lead + left[:, None])
        in_right = (column >= start) & (column < start + right[:, None])
        from_left = column - lead + first.where(swapped, 0)[:, None]
        from_right = column - start + first.masked_fill(swapped, 0)[:, None]
        origin = from_left.where(in_left, from_right.where(in_right, -1))
        real = column < start + right[:, None] + tail
        specials = torch.full_like(column, tokens.specials.sep).where(real, tokens.specials.pad)
        behind = column == start + right[:, None] + 1  # a second special token after the pair
        if self.pair_format in ("bert", "xlnet"):
            specials = specials.masked_fill(behind if lead == 0 else column == 0, tokens.specials.cls)
        segment = (column > (lead + left)[:, None]).long() + (behind & real)
        ids = gather_origin(tokens.ids, origin).where(origin >= 0, specials)
        turn = (lead + left + 1)[:, None]
        position = column.where(segment == 0, column - turn) if self.reset_position_ids else column
        made = stream(ids, origin, real, language=language_ids_at(tokens, origin, segment))
        return replace(made, segment_ids=segment, position_ids=position)

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        outcome = ALSO.get(overrides["pair"], overrides["pair"])
        if outcome == "next" and "translation" in self.outcomes:
            outcome = "translation"
        if outcome not in self.outcomes:
            known = ", ".join(dict.fromkeys(NAMES[o] for o in self.outcomes))
            raise UserError(f"The pair is {overrides['pair']!r}; it must be one of {known}.")
        return torch.full_like(plan, self.outcomes.index(outcome))

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"pair": NAMES[self.outcomes[int(plan[row])]]}


def either(first: Tensor, one: Tokens, other: Tokens) -> Tokens:
    """Row by row the one batch where `first` `[b]` holds and the other elsewhere."""
    width = max(one.ids.shape[1], other.ids.shape[1])

    def pick(a: Tensor, b: Tensor) -> Tensor:
        a, b = (pad(values, (0, width - values.shape[1])) for values in (a, b))
        return a.where(first[:, None], b)

    shared = [name for name in one.labels if name in other.labels]
    return replace(
        one,
        **{name: pick(getattr(one, name), getattr(other, name)) for name in ("ids", "word_ids", "sentence_ids")},
        lengths=one.lengths.where(first, other.lengths),
        labels={name: pick(one.labels[name], other.labels[name]) for name in shared},
        padded=True,
    )


def joined(first: Tokens, second: Tokens) -> Tokens:
    """Two texts as one, `[b, t]`: words and sentences of the second are numbered on from those of the first."""
    width = first.ids.shape[1] + second.ids.shape[1]
    position = arange(width, first.ids.device).expand(len(first.ids), width)
    later = position - first.lengths[:, None] + first.ids.shape[1]
    source = position.where(position < first.lengths[:, None], later).clamp(max=max(0, width - 1))
    real = position < (first.lengths + second.lengths)[:, None]

    def one(a: Tensor, b: Tensor, blank: int) -> Tensor:
        return torch.cat([a, b], dim=1).gather(1, source).where(real, blank)

    shared = [name for name in first.labels if name in second.labels]
    return replace(
        first,
        ids=one(first.ids, second.ids, first.specials.pad),
        lengths=first.lengths + second.lengths,
        word_ids=one(first.word_ids, second.word_ids + _count(first, first.word_ids), 0),
        sentence_ids=one(first.sentence_ids, second.sentence_ids + _count(first, first.sentence_ids), 0),
        labels={name: one(first.labels[name], _after(first, second, name), -1) for name in shared},
        neighbours={},
        padded=True,
    )


def _count(tokens: Tokens, numbers: Tensor) -> Tensor:
    """How many words or sentences each row has, `[b, 1]`."""
    return pad(numbers + 1, (0, 1)).masked_fill(~pad(tokens.valid, (0, 1)), 0).amax(1, keepdim=True)


def _after(first: Tokens, second: Tokens, name: str) -> Tensor:
    """A label of the second text; spans (phrases, mentions) are numbered on from those of the first."""
    row = second.labels[name]
    return row if name not in RUNS else (row + _count(first, first.labels[name])).masked_fill(row < 0, -1)
