"""Attention masks of a permutation: an order of prediction, in two streams."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.batch import MASKED_LEVEL, AttentionMask, Batch, Stream, gather_origin, mask_by_level
from playground.knob import knob
from playground.objectives.stage import See

CONTEXTS = ("together", "strict", "xlnet", "hf")
STREAMS = (
    "two streams",
    "one that sees itself",
    "one blind to itself",
    "positions only",
    "an order that turns round",
    "words only",
)


@dataclass(frozen=True)
class SeePermutation(See):
    """The order of prediction decides, in two streams (XLNet, arXiv:1906.08237, sec. 2.3).

    The content stream sees what comes earlier and itself, the query stream only what comes earlier. `context` is the
    rule for tokens that are not predicted. "together": they see each other. "strict": they follow the order too (the
    equation). "xlnet": words see each other, separators keep their step in the order (released code). "hf": only
    targets are ever hidden, and separators see those that come before them (Hugging Face's collator). `streams` shows
    why there are two: a single stream that sees itself holds its own answer; one that does not still carries its own
    word from layer to layer; positions alone never see a word; an order reversed in every second layer passes each
    word back to itself through later positions. Words alone are the naive model of sec. 2.3: the word before in the
    order predicts the next one without its position. The first word of all sees nothing and is no target, unless
    special tokens stand around the text.

    The first `reuse_len` tokens of rows that continue each other have an order of their own, which comes first, so that
    a memory of their states knows nothing of the others (released code).

    A special token that `add_special_tokens` puts around the text has no step in a drawn order. Where separators have
    one, it comes right behind its neighbour in the text; in the other two rules it is context.
    """

    context: str = knob(
        "together", choices=CONTEXTS, why="The paper's equation, its code, or the code of Hugging Face."
    )
    streams: str = knob("two streams", choices=STREAMS, why="A single stream already holds the word it must predict.")

    def build(self, batch: Batch) -> Batch:
        inputs = batch.inputs
        query_level, key_level = self._levels(batch)
        if half := batch.tokens.reuse_len:
            behind = ((inputs.origin < 0) | (inputs.origin >= half)) * 2 * inputs.ids.shape[1]
            query_level, key_level = query_level + behind, key_level + behind
        content, query = both_streams(inputs, query_level, key_level)
        if self.streams == "an order that turns round":
            reversed_ = both_streams(inputs, -query_level, -key_level)
            content, query = (replace(m, odd_layers=odd) for m, odd in zip((content, query), reversed_, strict=True))
        mask, query_mask = {
            "two streams": (content, query),
            "one that sees itself": (content, None),
            "one blind to itself": (query, None),
            "positions only": (content, replace(content, query_level=content.query_level - MASKED_LEVEL // 2)),
            "an order that turns round": (content, query),
            "words only": (content, None),
        }[self.streams]
        ahead = self.streams == "words only"
        return replace(batch, inputs=replace(inputs, attn_mask=mask, query_attn_mask=query_mask, predicts_next=ahead))

    def _levels(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The level of every position as a query and as a key, `[b, n]`; an inserted token may stand between."""
        origin = batch.inputs.origin
        query, key = (gather_origin(rank, origin, -1) for rank in self._ranks(batch))
        if self.context not in ("xlnet", "hf") or origin.shape == batch.prediction_order.shape:
            return query, key
        near = gather_origin(batch.prediction_order, nearest_origin(origin), -1)
        own = (2 * near + (near >= 0)).where((origin < 0) & batch.inputs.valid, 2 * query)
        return own, own if self.context == "xlnet" else 2 * key

    def _ranks(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The level of every text position as a query and as a key, `[b, t]`; context without a rank has -1."""
        if self.context == "strict":
            return batch.prediction_order, batch.prediction_order
        targets = batch.prediction_step
        if self.context == "together":
            return targets, targets
        ranked = batch.prediction_order.masked_fill(~batch.selected & batch.maskable, -1)
        return ranked, ranked if self.context == "xlnet" else targets


def nearest_origin(origin: Tensor) -> Tensor:
    """The origin `[b, n]` of each position; of an inserted token, that of the word before it, else the one behind it.

    It is -1 where there is no word at all.
    """
    before = origin.cummax(1).values
    first = origin.masked_fill(origin < 0, MASKED_LEVEL).amin(1, keepdim=True)
    return before.where(before >= 0, first.where(first < MASKED_LEVEL, -1))


def both_streams(inputs: Stream, query_level: Tensor, key_level: Tensor) -> tuple[AttentionMask, AttentionMask]:
    """Masks by levels `[b, n]`: content that also sees its own level, queries that see only lower ones."""
    content = mask_by_level(query_level, key_level, inputs.valid, inputs.padded)
    return content, replace(content, query_level=content.query_level - 1)
