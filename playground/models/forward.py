"""One pass of a model over an example and those beside it: every stream is read once, every question answered."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from playground.batch import Batch, CooccurrenceTarget, NegativeSampling, SoftTargets, Target, position_of
from playground.models.architecture import need
from playground.models.heads import infersent_features
from playground.models.losses import Answer
from playground.models.transformer import AttentionWeights

if TYPE_CHECKING:
    from playground.models.model import LanguageModel


@dataclass
class ForwardPass:
    """What the model knows of each stream so far, so that several questions share one pass.

    `attn_weights` collect the attention of the main example only.
    """

    model: "LanguageModel"
    batch: Batch
    attn_weights: AttentionWeights | None = None
    _known: list[tuple[Batch, str, Tensor]] = field(default_factory=list)

    def answer(self, part: Batch, question: Target) -> Answer:
        """The scores of one question at its scored positions."""
        if question.stream == "query":
            return self._answer_blind(part, question)
        rows, places = question.loss_positions.rows, question.loss_positions.positions
        hidden = self.encoded(part, question.stream)
        if question.head == "match":
            return self._match(part, question, rows, places, hidden[rows, places])
        vectors = hidden[rows, places] if question.reads is None else self._both(question, hidden, rows, places)
        if isinstance(question.loss, SoftTargets):
            return self._follow(question, part, rows, places, vectors)
        return self._answer(part, question, rows, places, vectors)

    def encoded(self, part: Batch, reader: str) -> Tensor:
        """What every position of a stream knows, `[b, n, d]`."""
        for read, by, found in self._known:  # by the part itself: its id would be new to a compiler in every step
            if read is part and by == reader:
                return found
        self._known.append((part, reader, self._read(part, reader)))
        return self._known[-1][-1]

    def _read(self, part: Batch, reader: str) -> Tensor:
        model, table = self.model, self.model.token_embedding.weight
        attn_weights = self.attn_weights if part is self.batch else None
        network = model.network_of(part)
        if reader == "inputs":
            name = "encoder" if part.inputs.query_attn_mask is None else "content"
            return network(part.inputs, table, attn_weights, name)
        assert part.decoder is not None
        need(model.shape.decoder_layers, "writes with a decoder", "decoder_layers to at least 1")
        return network.decode(part.decoder, part.inputs, table, attn_weights)

    def _answer(self, part: Batch, question: Target, rows: Tensor, places: Tensor, vectors: Tensor) -> Answer:
        network, targets = self.model.network_of(part), question.targets[rows, places]
        if isinstance(question.loss, NegativeSampling):
            wrong = question.loss.negatives[rows, places].clamp(min=0)
            scores = self.model.score_candidates(vectors, torch.cat([targets[:, None], wrong], dim=1), network)
        elif isinstance(question.loss, CooccurrenceTarget):
            scores = self.model.log_counts(vectors, targets[:, None], network)
        else:
            scores = self.model.score(vectors, question.head, network)
        return Answer(question, rows, places, scores, targets)

    def _answer_blind(self, part: Batch, question: Target) -> Answer:
        need(self.model.shape.two_streams, "is answered by a query stream", "two_streams to yes")
        attn_weights = self.attn_weights if part is self.batch else None
        places = _asked_places(question) if attn_weights is None else _all_places(question.loss_mask)
        network = self.model.network_of(part)
        hidden = network.query_stream(part.inputs, places, self.model.token_embedding.weight, attn_weights)
        rows, at = question.loss_positions.rows, question.loss_positions.positions
        return self._answer(part, question, rows, at, hidden[rows, _rank(question) if attn_weights is None else at])

    def _both(self, question: Target, hidden: Tensor, rows: Tensor, places: Tensor) -> Tensor:
        """What two positions tell: the words around a span of a place within it (SpanBERT), two texts of a label."""
        assert question.reads is not None
        left, right = question.reads[rows, places].unbind(-1)
        if question.head != "vocabulary":
            name = question.head.removeprefix("label:")
            need(
                name in self.model.shape.paired,
                f"compares two texts for the label {name!r}",
                f"paired to hold {name!r}",
            )
            return infersent_features(hidden[rows, left], hidden[rows, right])
        need(self.model.shape.sbo_head, "guesses spans from their ends", "sbo_head to yes")
        return self.model.sbo_head(hidden[rows, left], hidden[rows, right], places - left - 1)

    def _match(self, part: Batch, question: Target, rows: Tensor, places: Tensor, vectors: Tensor) -> Answer:
        """Each row's vector against the first position of every row's partner, `[k, k]`; its own is right.

        Rows whose targets are the same have the same partner; a twin is no wrong answer and drops out.
        """
        partner = next(e for e in part.auxiliary if not e.questions)
        other = self.encoded(partner, "inputs")[rows, 0]
        own = torch.arange(len(rows), device=rows.device)
        group = question.targets[rows, places]
        twin = (group[:, None] == group) & (own[:, None] != own)
        return Answer(question, rows, places, (vectors @ other.T).masked_fill(twin, float("-inf")), own)

    def _follow(self, question: Target, part: Batch, rows: Tensor, places: Tensor, vectors: Tensor) -> Answer:
        """A restricted view is graded by what the same label's own head says of the whole text."""
        assert isinstance(question.loss, SoftTargets)
        network = self.model.network_of(part)
        where = position_of(self.batch.inputs, self.batch.tokens.ids.shape[1])
        seen = where[rows, question.loss.positions[rows, places]]
        taught = self.model.score(self.encoded(self.batch, "inputs")[rows, seen], question.loss.head, network)
        scores = self.model.score(vectors, question.head, network)
        return Answer(question, rows, places, scores, taught.detach().softmax(-1))


def _asked_places(question: Target) -> Tensor:
    """The graded places of each row first, `[b, m]` with m the most of any row."""
    order = question.loss_mask.long().argsort(dim=1, descending=True, stable=True)
    return order[:, : question.loss_positions.most_per_row]


def _rank(question: Target) -> Tensor:
    """For each scored answer `[k]`, how many of its row stand before it."""
    rows, each = question.loss_positions.rows, question.loss_mask.sum(1)
    return torch.arange(len(rows), device=rows.device) - (each.cumsum(0) - each)[rows]


def _all_places(graded: Tensor) -> Tensor:
    """Every place in its own order, so that attention weights line up with the visibility they obey."""
    return torch.arange(graded.shape[1], device=graded.device).expand(graded.shape)
