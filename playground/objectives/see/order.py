"""See by an order of prediction, in two streams."""

from dataclasses import dataclass

from torch import Tensor

from playground.example import NEVER, Example, Stream, Visible, at_origin, by_level
from playground.knob import knob
from playground.late import replace

CONTEXTS = ("together", "strict", "xlnet", "hf")
STREAMS = ("two streams", "one that sees itself", "one blind to itself", "places only", "an order that turns round")


@dataclass(frozen=True)
class SeeOrder:
    """The order of prediction decides, in two streams (XLNet, arXiv:1906.08237, sec. 2.3).

    The content stream sees what comes earlier and itself, the query stream only what comes earlier. `context` decides
    about what is not predicted. "together": such tokens see each other. "strict": they follow the order too (the
    equation). "xlnet": words see each other, separators keep their step in the order (released code). "hf": only
    targets are ever hidden, and separators see those that come before them (Hugging Face's collator). `streams` says
    why there are two: one that sees itself holds its answer; one that may not look at itself still carries its own
    word from layer to layer; places alone never hear a word. Two streams need one order for all layers: where it
    turns round in every second layer, a word is told to those that come later, who then come earlier and tell it back.
    """

    context: str = knob("together", choices=CONTEXTS, why="The paper's equation, its code, and what was made of it.")
    streams: str = knob(
        "two streams", choices=STREAMS, why="With one stream the answer is in the place that must give it."
    )

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        reader, read = (at_origin(rank, inputs.origin, -1) for rank in self._ranks(example))
        content, query = both_streams(inputs, reader, read)
        if self.streams == "an order that turns round":
            turned = both_streams(inputs, -reader, -read)
            content, query = (replace(seen, above=above) for seen, above in zip((content, query), turned, strict=True))
        visible, query_visible = {
            "two streams": (content, query),
            "one that sees itself": (content, None),
            "one blind to itself": (query, None),
            "places only": (content, replace(content, reader=content.reader - NEVER // 2)),
            "an order that turns round": (content, query),
        }[self.streams]
        return replace(example, inputs=replace(inputs, visible=visible, query_visible=query_visible))

    def _ranks(self, example: Example) -> tuple[Tensor, Tensor]:
        """The level of every place as a reader and as what is read, `[b, t]`; context without a rank has -1."""
        if self.context == "strict":
            return example.rank, example.rank
        targets = example.turns
        if self.context == "together":
            return targets, targets
        ranked = example.rank.masked_fill(~example.chosen & example.maskable, -1)
        return ranked, ranked if self.context == "xlnet" else targets


def both_streams(inputs: Stream, reader: Tensor, read: Tensor) -> tuple[Visible, Visible]:
    """Who sees whom by levels `[b, n]`: content that also sees its own level, queries that see only what is below."""
    content = by_level(reader, read, inputs.real, inputs.padded)
    return content, replace(content, reader=content.reader - 1)
