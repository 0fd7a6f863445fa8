"""Change what the content stream of a permutation shows."""

from dataclasses import dataclass

from playground.batch import Batch
from playground.knob import knob
from playground.objectives.change.masks import ReplaceWithMask
from playground.objectives.stage import Change


@dataclass(frozen=True)
class MaskContentStream(Change):
    """[MASK] instead of every word that is predicted (the collator of the transformers library; XLNet shows the words).

    A word that comes late in the order then never learns what the early ones were.
    """

    content: str = knob("masks", choices=("masks", "words"), why="What the content stream holds at the targets.")

    def build(self, batch: Batch) -> Batch:
        return ReplaceWithMask().build(batch) if self.content == "masks" else batch
