"""Arrange the fields of an article, such as its date and its text, in an order that is drawn."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot, pad

from playground.batch import Batch, arange_rows, begin
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.arrange.pair import joined
from playground.objectives.ops import sampling
from playground.objectives.stage import Arrange, PlanOverrides

NEVER_DROPPED = 2
"""The last fields, title and text, which a partition does not lose."""

IN_ORDER = 0.15
"""How often all fields stand in their order, none dropped."""


@dataclass(frozen=True)
class ArrangeFields(Arrange):
    """The fields of each article, each between a special token that begins and one that ends it (Grover, sec. 3).

    With `unconditional_prob` the text comes first. In 15 % all fields come in their order; else each goes into one of
    two sets, and those of the first set are written before those of the second, the text among them. Other fields than
    title and text are dropped with `metadata_dropout_prob`, before the text also the title (arXiv:1905.12616 and
    released code). A field that an article lacks is not written. What is written is the text from here on, special
    tokens included. Number k of the `fields` begins with sentinel 2k and ends with the next one.
    """

    label: str
    fields: tuple[str, ...]
    unconditional_prob: float = knob(
        0.35, 0.0, 0.85, unit="probability", why="How often the text is written without any other field."
    )
    metadata_dropout_prob: float = knob(
        0.1, 0.0, 1.0, unit="probability", why="Fields that are left out are generated."
    )
    keys = ("fields",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The position of each field in its article, `[b, f]`; the number of fields where it is dropped."""
        number, rows = len(self.fields), len(batch.tokens.ids)
        kind = sampling.among(
            (self.unconditional_prob, IN_ORDER, 1 - IN_ORDER - self.unconditional_prob), (rows, 1), rng
        )
        half = (sampling.noise((rows, number), rng) < 0.5).long()
        dropped = sampling.noise((rows, number), rng) < self.metadata_dropout_prob
        field = arange_rows(half)
        text = field == number - 1
        half = half.where(kind == 2, (~text).long().where(kind == 0, 0))
        kept = (kind == 1) | ~dropped | text | ((kind == 2) & (field >= number - NEVER_DROPPED))
        return sampling.rank((half * number + field).masked_fill(~kept, 2 * number)).where(kept, number)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        tokens = batch.tokens
        if "next" in tokens.neighbours:
            tokens = joined(tokens, tokens.neighbours["next"])
        number, width, specials = len(self.fields), tokens.ids.shape[1], tokens.specials
        if len(specials.sentinels) < 2 * number:
            raise UserError(
                f"{number} fields need {2 * number} sentinels; this vocabulary has {len(specials.sentinels)}."
            )
        field = tokens.labels[self.label].masked_fill(~tokens.valid, -1)
        rank = plan.gather(1, field.clamp(min=0)).where(field >= 0, number)
        size = one_hot(rank, number + 1)[..., :number].sum(1)  # [b, f] by rank
        there = (size > 0).long()
        opening = size.cumsum(1) - size + 2 * (there.cumsum(1) - there)
        order = rank.argsort(dim=1, stable=True)
        turn = rank.gather(1, order)
        shift = pad(2 * (there.cumsum(1) - there) + 1, (0, 1)).gather(1, turn)
        position = (arange_rows(order) + shift).where(turn < number, width + 2 * number)
        blank = torch.full_like(pad(order, (0, 2 * number + 1)), -1)
        source = blank.scatter(1, position, order)
        beyond = width + 2 * number
        first, last = ((opening + step).where(there > 0, beyond) for step in (torch.zeros_like(size), size + 1))
        written = plan.argsort(dim=1, stable=True)  # [b, f] the field at each rank
        marks = blank.scatter(1, first, 2 * written).scatter(1, last, 2 * written + 1)[:, :-1]
        source = source[:, :-1]
        return begin(self._text(tokens, source, marks, size.sum(1) + 2 * there.sum(1)))

    def _text(self, tokens: Any, source: Tensor, marks: Tensor, lengths: Tensor) -> Any:
        """The text whose positions `[b, n]` are the words at `source` and the special tokens numbered in `marks`."""

        def at(values: Tensor, blank: int) -> Tensor:
            return pad(values, (0, 1), value=blank).gather(1, source.where(source >= 0, values.shape[1]))

        special = torch.tensor((*tokens.specials.sentinels, tokens.specials.pad), device=source.device)
        opens, mark = (marks >= 0) & (marks % 2 == 0), marks >= 0
        sentence, word = at(tokens.sentence_ids, -1), at(tokens.word_ids, -1)
        inner = (source >= 0) & (pad(source, (1, 0), value=-1)[:, :-1] >= 0)
        new = {"sentence": opens | (inner & _changes(sentence)), "word": mark | ~inner | _changes(word)}
        number = {name: (begins.long().cumsum(1) - 1).clamp(min=0) for name, begins in new.items()}
        labels = {name: at(row, -1) for name, row in tokens.labels.items()}
        labels[self.label] = (marks // 2).where(mark, labels[self.label])
        if "language" in labels and source.shape[1]:
            labels["language"] = labels["language"].amax(1, keepdim=True).where(mark, labels["language"])
        return replace(
            tokens,
            ids=special[marks].where(mark, at(tokens.ids, tokens.specials.pad)),
            lengths=lengths,
            word_ids=number["word"],
            sentence_ids=number["sentence"],
            labels=labels,
            neighbours={},
            padded=True,
        )

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        names = overrides["fields"]
        if len(set(names)) < len(names) or not set(names) <= set(self.fields):
            known = ", ".join(self.fields)
            raise UserError(f"The fields are {', '.join(names)}; name each at most once, of: {known}.")
        ranks = [names.index(name) if name in names else len(self.fields) for name in self.fields]
        return torch.tensor(ranks, device=plan.device).expand_as(plan)

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        ranked = sorted(zip(plan[row].tolist(), self.fields, strict=True), key=lambda each: each[0])
        return {"fields": [name for rank, name in ranked if rank < len(self.fields)]}


def _changes(values: Tensor) -> Tensor:
    """Where a value differs from the one before it in its row."""
    return pad(values[:, 1:] != values[:, :-1], (1, 0), value=True)[:, : values.shape[1]]
