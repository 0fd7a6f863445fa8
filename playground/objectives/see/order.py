"""See by an order of prediction, in two streams."""

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
    "places only",
    "an order that turns round",
    "words only",
)


@dataclass(frozen=True)
class SeePermutation(See):
    """The order of prediction decides, in two streams (XLNet, arXiv:1906.08237, sec. 2.3).

    The content stream sees what comes earlier and itself, the query stream only what comes earlier. `context` decides
    about what is not predicted. "together": such tokens see each other. "strict": they follow the order too (the
    equation). "xlnet": words see each other, separators keep their step in the order (released code). "hf": only
    targets are ever hidden, and separators see those that come before them (Hugging Face's collator). `streams` says
    why there are two: one that sees itself holds its answer; one that may not look at itself still carries its own
    word from layer to layer; places alone never hear a word. Two streams need one order for all layers: where it
    turns round in every second layer, a word is told to those that come later, who then come earlier and tell it back.
    Words alone are the naive model of sec. 2.3: what the word before in the order knows is the answer, whichever place
    comes next. The first word of all has nobody before it and is not asked, unless signs stand around the text.

    A sign that `add_special_tokens` puts around the text has no step in a drawn order. Where separators have one, it
    comes right behind its neighbour in the text; in the other two rules it is context.
    """

    context: str = knob("together", choices=CONTEXTS, why="The paper's equation, its code, and what was made of it.")
    streams: str = knob(
        "two streams", choices=STREAMS, why="With one stream the answer is in the place that must give it."
    )

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        reader, read = self._levels(example)
        content, query = both_streams(inputs, reader, read)
        if self.streams == "an order that turns round":
            turned = both_streams(inputs, -reader, -read)
            content, query = (
                replace(seen, odd_layers=above) for seen, above in zip((content, query), turned, strict=True)
            )
        visible, query_visible = {
            "two streams": (content, query),
            "one that sees itself": (content, None),
            "one blind to itself": (query, None),
            "places only": (content, replace(content, query_level=content.query_level - MASKED_LEVEL // 2)),
            "an order that turns round": (content, query),
            "words only": (content, None),
        }[self.streams]
        ahead = self.streams == "words only"
        return replace(
            example, inputs=replace(inputs, attn_mask=visible, query_attn_mask=query_visible, predicts_next=ahead)
        )

    def _levels(self, example: Batch) -> tuple[Tensor, Tensor]:
        """The level of every position as a reader and as what is read, `[b, n]`; a sign put in may stand between."""
        origin = example.inputs.origin
        reader, read = (gather_origin(rank, origin, -1) for rank in self._ranks(example))
        if self.context not in ("xlnet", "hf") or origin.shape == example.prediction_order.shape:
            return reader, read
        near = gather_origin(example.prediction_order, beside(origin), -1)
        own = (2 * near + (near >= 0)).where((origin < 0) & example.inputs.valid, 2 * reader)
        return own, own if self.context == "xlnet" else 2 * read

    def _ranks(self, example: Batch) -> tuple[Tensor, Tensor]:
        """The level of every place as a reader and as what is read, `[b, t]`; context without a rank has -1."""
        if self.context == "strict":
            return example.prediction_order, example.prediction_order
        targets = example.prediction_step
        if self.context == "together":
            return targets, targets
        ranked = example.prediction_order.masked_fill(~example.selected & example.maskable, -1)
        return ranked, ranked if self.context == "xlnet" else targets


def beside(origin: Tensor) -> Tensor:
    """The place `[b, n]` of the text that each position comes from; of a sign put in, that of the nearest word.

    The word before it counts, else the one behind it; -1 where there is no word at all.
    """
    before = origin.cummax(1).values
    first = origin.masked_fill(origin < 0, MASKED_LEVEL).amin(1, keepdim=True)
    return before.where(before >= 0, first.where(first < MASKED_LEVEL, -1))


def both_streams(inputs: Stream, reader: Tensor, read: Tensor) -> tuple[AttentionMask, AttentionMask]:
    """Who sees whom by levels `[b, n]`: content that also sees its own level, queries that see only what is below."""
    content = mask_by_level(reader, read, inputs.valid, inputs.padded)
    return content, replace(content, query_level=content.query_level - 1)
