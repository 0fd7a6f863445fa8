"""Ask for words: at their positions, next in order, from around their span, near each other, or as whole spans."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from playground.answers import CooccurrenceTarget, InBatchContrast, SpanBoundary, Target, Word, WordAhead
from playground.batch import MASKED_LEVEL, Batch, arange_rows, gather_origin, is_identity, language_ids_at, stream
from playground.knob import knob
from playground.objectives.change.trigrams import movable
from playground.objectives.ops.marked_spans import MarkedSpans, marked_spans
from playground.objectives.ops.ragged import ahead, collect, shift
from playground.objectives.ops.sampling import inverse
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskMasked(Ask):
    """The original word at every selected position (BERT, arXiv:1810.04805, sec. 3.1)."""

    def build(self, batch: Batch) -> Batch:
        return asked(batch, in_place(batch, "inputs"))


@dataclass(frozen=True)
class AskDiffused(Ask):
    """The original word at every hidden position, weighted by 1/t, as a mean over all words (arXiv:2406.07524, eq. 10).

    The mean of this loss over times and hidden words is an upper bound of the negative log-likelihood for each word. Of
    special tokens in the text, which are never hidden, nothing is asked, and they are not counted.
    """

    loss_weight: str = knob(
        "1/t", choices=("1/t", "uniform"), why="Uniform is MLM at a rate t and does not bound the likelihood."
    )

    @property
    def unit(self) -> str:
        return "nats a word" if self.loss_weight == "1/t" else "nats"

    def build(self, batch: Batch) -> Batch:
        target, origin, inputs = in_place(batch, "inputs"), batch.inputs.origin, batch.inputs
        assert batch.time is not None, "a stage that draws times must come before"
        if batch.block is not None:  # the second half is the text as it was
            changed = arange_rows(inputs.ids) < inputs.valid.sum(1, keepdim=True) // 2
            target, origin = replace(target, loss_mask=target.loss_mask & changed), origin.where(changed, -1)
        if self.loss_weight == "uniform":
            return asked(batch, target)
        weights, words = gather_origin(1 / batch.time, origin), gather_origin(batch.maskable, origin, False)
        return asked(batch, replace(target, loss_weights=weights, mean_over=words))


@dataclass(frozen=True)
class AskMaskedNext(Ask):
    """The original word at every selected position, from the position before it (LLM2Vec, arXiv:2404.05961, sec. 2).

    A word without a position before it is no target.
    """

    def build(self, batch: Batch) -> Batch:
        target = in_place(batch, "inputs")
        scored = ahead(target.loss_mask, 1, False)
        labels = ahead(target.labels, 1, batch.tokens.specials.pad)
        return asked(batch, replace(target, labels=labels, loss_mask=scored, origin=ahead(target.origin, 1, -1)))


@dataclass(frozen=True)
class AskMoved(Ask):
    """The original word at every position of the shuffled spans (StructBERT, arXiv:1908.04577, sec. 2.2.1).

    The input shows the word at another position of its span, because finding the position is the task.
    """

    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="Weight relative to the loss of the hidden words.")

    def build(self, batch: Batch) -> Batch:
        inputs, tokens = batch.inputs, batch.tokens
        slot = gather_origin(batch.prediction_order, inputs.origin, -1)
        scored = gather_origin(movable(batch).of >= 0, inputs.origin, False)
        targets = gather_origin(tokens.ids, slot, tokens.specials.pad)
        target = Target("word order", Word(), "inputs", targets, scored, slot, self.weight, copying=True)
        return asked(batch, target)


@dataclass(frozen=True)
class AskNext(Ask):
    """The next word at every position of a shifted input (Radford et al. 2018, eq. 1), or the previous one (ELMo).

    Where an order of prediction was drawn, the next word is that of the order (sigma-GPT, arXiv:2404.09562, sec. 2).
    Where the input has one position more than the text has words, the closing special token is a target too.
    """

    side: Literal["left", "right"] = "left"
    context_size: int = knob(
        0, 0, 64, unit="words", why="The first words are read but not scored (XLM's context size)."
    )
    weight: float = knob(
        1.0, 0.0, 1.0, unit="times", why="Weight of each direction: 0.5 for the mean of two, 1 for the sum."
    )

    def build(self, batch: Batch) -> Batch:
        tokens, inputs = batch.tokens, batch.inputs
        position = arange_rows(inputs.ids)
        count = inputs.valid.sum(1, keepdim=True)
        text_position = position if self.side == "left" else position - (count - tokens.lengths[:, None])
        origin = text_position.where(
            inputs.valid & (text_position >= 0) & (text_position < tokens.lengths[:, None]), -1
        )
        if not is_identity(batch.prediction_order):
            origin = gather_origin(inverse(batch.prediction_order), origin, -1)
        sign = torch.full_like(text_position, tokens.specials.end if self.side == "left" else tokens.specials.start)
        targets = gather_origin(tokens.ids, origin).where(origin >= 0, sign).where(inputs.valid, tokens.specials.pad)
        read = position if self.side == "left" else count - 1 - position
        name = "next word" if self.side == "left" else "previous word"
        scored = inputs.valid & (read >= self.context_size)
        target = Target(name, Word(), "inputs", targets, scored, origin, self.weight)
        return asked(replace(batch, selected=tokens.valid), target)


@dataclass(frozen=True)
class AskFurther(Ask):
    """The word `ahead` positions after the next one, at every position that has one (arXiv:2404.19737, sec. 2).

    In the form "sequential" the model reads the words in between as well (DeepSeek-V3, arXiv:2412.19437, sec. 2.2).
    """

    ahead: int
    form: Literal["parallel", "sequential"] = "parallel"
    mtp_loss_scaling_factor: float = knob(
        1.0, 0.0, 1.0, unit="times", why="What the words after the next one count, as a mean over their distances."
    )
    depth: int = 1

    def build(self, batch: Batch) -> Batch:
        target = next(q for q in batch.targets if q.name == "next word")
        labels = ahead(target.labels, self.ahead, batch.tokens.specials.pad)
        scored, origin = ahead(target.loss_mask, self.ahead, False), ahead(target.origin, self.ahead, -1)
        kind = WordAhead(self.ahead, self.form == "sequential")
        weight = self.mtp_loss_scaling_factor / self.depth
        return asked(batch, Target(kind.name, kind, "inputs", labels, scored, origin, weight))


@dataclass(frozen=True)
class AskInput(Ask):
    """The input itself, token by token: [START] and all tokens but the last are read, each one position later.

    Without `score_sentinels` no sentinel is asked for, so that the model never writes one (InCoder, arXiv:2204.05999,
    sec. 2.1).
    """

    score_sentinels: bool = knob(True, why="InCoder does not score them, so that it never writes one.")

    def build(self, batch: Batch) -> Batch:
        tokens, inputs = batch.tokens, batch.inputs
        scored = inputs.valid
        if not self.score_sentinels:
            sentinels = torch.tensor(tokens.specials.sentinels, device=scored.device)
            scored = scored & ~((inputs.origin < 0) & torch.isin(inputs.ids, sentinels))
        target = Target("next word", Word(), "inputs", inputs.ids, scored, inputs.origin)
        ids = shift(inputs.ids, tokens.specials.start).where(inputs.valid, tokens.specials.pad)
        origin = shift(inputs.origin, -1).where(inputs.valid, -1)
        read = replace(inputs, ids=ids, origin=origin, language_ids=language_ids_at(tokens, origin))
        return asked(replace(batch, inputs=read, selected=tokens.valid), target)


@dataclass(frozen=True)
class AskBlanks(Ask):
    """The next word of each span from its [START] on, and [END] behind its last (GLM, arXiv:2103.10360, sec. 2.1)."""

    def build(self, batch: Batch) -> Batch:
        inputs, specials = batch.inputs, batch.tokens.specials
        second = inputs.second_position_ids
        assert second is not None, "a stage that makes blanks must come before"
        ids, origin, after = (values.roll(-1, 1) for values in (inputs.ids, inputs.origin, second))
        goes_on = after > 1  # a row begins with part A, whose second positions are 0
        scored = second > 0
        labels = ids.where(goes_on, specials.end).where(scored, specials.pad)
        target = Target("hidden words", Word(), "inputs", labels, scored, origin.where(goes_on, -1))
        return asked(batch, target)


@dataclass(frozen=True)
class AskContinuation(Ask):
    """The next word, from the last word of the first part on (T5's prefix language model, sec. 3.2.3).

    The last word of all predicts nothing. With "all" the words of the first part are predicted too, though the
    attention mask shows them to the position that predicts; the leak check says so.
    """

    loss_on: str = knob("second part", choices=("second part", "all"), why="The first part already sees itself.")

    def build(self, batch: Batch) -> Batch:
        tokens = batch.tokens
        position = arange_rows(tokens.ids)
        asked_for = tokens.valid if self.loss_on == "all" else batch.selected
        scored, targets = ahead(asked_for, 1, False), ahead(tokens.ids, 1, tokens.specials.pad)
        return asked(batch, Target("next word", Word(), "inputs", targets, scored, (position + 1).where(scored, -1)))


@dataclass(frozen=True)
class AskQueryStream(Ask):
    """The word at each target position, from the query stream, which lacks the word itself (XLNet, sec. 2.3).

    Without a query stream the content stream answers; without the position, the word before it in the order.
    """

    def build(self, batch: Batch) -> Batch:
        target = in_place(batch, "inputs" if batch.inputs.query_attn_mask is None else "query")
        return asked(batch, one_step_ahead(batch, target) if batch.inputs.predicts_next else target)


def one_step_ahead(batch: Batch, target: Target) -> Target:
    """The same target, answered by the position that comes right before each target in the order."""
    inputs = batch.inputs
    rank = gather_origin(batch.prediction_order, inputs.origin, -1)
    width = inputs.ids.shape[1]
    level = inputs.attn_mask.query_level.long() * (width + 1) + rank
    order = level.masked_fill(~inputs.valid, MASKED_LEVEL * (width + 1)).argsort(dim=1, stable=True)
    after = torch.full_like(order, -1).scatter_(1, order[:, :-1], order[:, 1:])
    there = after.clamp(min=0)
    scored = target.loss_mask.gather(1, there) & (after >= 0)
    origin = target.origin.gather(1, there).where(scored, -1)
    targets = target.labels.gather(1, there).where(scored, batch.tokens.specials.pad)
    return replace(target, labels=targets, loss_mask=scored, origin=origin)


@dataclass(frozen=True)
class AskSpanBoundary(Ask):
    """Each word of a hidden span, from the words on both sides of the span and its number within (SpanBERT, sec. 3.2).

    Only the first `sbo_max_length` words of a span are targets, and none of a span that touches the end of its text
    (released code).
    """

    sbo_max_length: int = knob(
        15, 1, 32, unit="words of a span", why="A long span cannot be predicted from its two ends."
    )
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="Weight relative to the loss at the words' own positions.")

    def build(self, batch: Batch) -> Batch:
        inputs, tokens = batch.inputs, batch.tokens
        hidden = marked_spans(batch, batch.selected)
        inner = arange_rows(tokens.ids) - hidden.first
        scored = gather_origin(has_ends(batch, hidden) & (inner < self.sbo_max_length), inputs.origin, False)
        position = arange_rows(inputs.ids)
        left = position - 1 - gather_origin(inner, inputs.origin)
        right = position + 1 + gather_origin(hidden.last - arange_rows(tokens.ids), inputs.origin)
        targets = gather_origin(tokens.ids, inputs.origin, tokens.specials.pad)
        reads = torch.stack([left, right], dim=2).masked_fill(~scored[..., None], 0)
        target = Target("span boundary", SpanBoundary(), "inputs", targets, scored, inputs.origin, self.weight)
        return asked(batch, replace(target, reads=reads))


def has_ends(batch: Batch, hidden: MarkedSpans) -> Tensor:
    """Which hidden positions `[b, t]` lie in a span with a word right before and right behind it."""
    block = marked_spans(batch, batch.maskable)
    inside = (hidden.first > block.first) & (hidden.last < block.last)
    return (hidden.of >= 0) & (block.of >= 0) & inside


@dataclass(frozen=True)
class AskCentre(Ask):
    """The word at every selected position that has others in its window (CBOW, arXiv:1301.3781, sec. 3.1)."""

    def build(self, batch: Batch) -> Batch:
        query = batch.inputs.query_attn_mask
        assert query is not None, "a see stage with a window must come before"
        assert query.window is not None
        first, last = query.window
        target = in_place(batch, "query")
        return asked(batch, replace(target, name="centre word", loss_mask=target.loss_mask & (last > first)))


@dataclass(frozen=True)
class AskNeighbour(Ask):
    """For every pair the context word, from the centre word alone (skip-gram, arXiv:1301.3781, sec. 3.2)."""

    def build(self, batch: Batch) -> Batch:
        return asked(batch, _paired_word(batch, "word nearby"))


@dataclass(frozen=True)
class AskCount(Ask):
    """For every cell how often its two words co-occur (GloVe, Pennington et al. 2014, eq. 8-9)."""

    unit: ClassVar[str] = CooccurrenceTarget.unit
    x_max: float = knob(
        100.0, 1.0, 1000.0, unit="times", why="Pairs that occur more often than this all have weight 1."
    )
    alpha: float = knob(0.75, 0.0, 1.0, unit="exponent", why="The larger it is, the less a rare pair counts.")

    def build(self, batch: Batch) -> Batch:
        seen = batch.tokens.labels["seen"]
        target = _paired_word(batch, "how often")
        return asked(batch, replace(target, kind=CooccurrenceTarget(seen, self.x_max, self.alpha)))


def _paired_word(batch: Batch, name: str) -> Target:
    """A target for the word that each position names by its span of one."""
    real = batch.inputs.valid
    origin = batch.spans.start.where(real, -1)
    targets = gather_origin(batch.tokens.ids, origin, batch.tokens.specials.pad)
    return Target(name, Word(), "inputs", targets, real, origin)


@dataclass(frozen=True)
class AskInBatchContrast(Ask):
    """Whose n-gram is missing here, among those of the whole batch (InfoWord, arXiv:1910.08350, sec. 4).

    Scored at the first special token; the n-gram alone, behind a [CLS] of its own, is an auxiliary batch. Without
    `duplicates_as_negatives` an equal n-gram of another text is no negative.
    """

    duplicates_as_negatives: bool = knob(False, why="Treat the same n-gram in another text as a negative.")
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="Weight relative to the other losses.")

    def build(self, batch: Batch) -> Batch:
        inputs, partner = batch.inputs, _selected_alone(batch)
        position = arange_rows(inputs.ids)
        scored = (position == 0) & batch.selected.any(1, keepdim=True)
        group = torch.arange(len(position), device=position.device)
        if not self.duplicates_as_negatives:
            group = partner.inputs.ids.unique(dim=0, return_inverse=True)[1]
        targets, nowhere = group[:, None].where(scored, 0), torch.full_like(inputs.ids, -1)
        target = Target("match", InBatchContrast(), "inputs", targets, scored, nowhere, self.weight)
        return asked(replace(batch, auxiliary=(*batch.auxiliary, partner)), target)


def _selected_alone(batch: Batch) -> Batch:
    """The selected words behind [CLS], as they stand in the text."""
    found, cls = collect(batch, batch.selected), batch.tokens.specials.cls
    lead = torch.ones_like(found.real[:, :0].sum(1, keepdim=True))
    ids = torch.cat([lead * cls, found.ids], dim=1)
    origin = torch.cat([-lead, found.origin], dim=1)
    real = torch.cat([lead > 0, found.real], dim=1)
    inputs = stream(ids, origin, real, language=language_ids_at(batch.tokens, origin))
    return replace(batch, inputs=inputs, actions=torch.zeros_like(batch.actions), auxiliary=(), targets=())


def in_place(batch: Batch, reader: Literal["inputs", "query"]) -> Target:
    """A target for the original word at every selected position of the input."""
    inputs = batch.inputs
    scored = gather_origin(batch.selected, inputs.origin, False)
    targets = gather_origin(batch.tokens.ids, inputs.origin, batch.tokens.specials.pad)
    return Target("hidden words", Word(), reader, targets, scored, inputs.origin)


def asked(batch: Batch, target: Target) -> Batch:
    """The batch with one more target."""
    return replace(batch, targets=(*batch.targets, target))
