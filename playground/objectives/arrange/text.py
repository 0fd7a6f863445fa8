"""Arrange one text."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch.nn.functional import pad

from playground.batch import Batch, arange, arange_rows, gather_origin, language_ids_at, stream
from playground.knob import knob
from playground.objectives.stage import Arrange


@dataclass(frozen=True)
class ArrangeText(Arrange):
    """The text as it stands, or between [CLS] and [SEP] as BERT reads it (arXiv:1810.04805, sec. 3)."""

    add_special_tokens: bool = knob(False, why="Put [CLS] before and [SEP] after the text.")

    def build(self, batch: Batch) -> Batch:
        if not self.add_special_tokens:
            return batch
        tokens, specials, count = batch.tokens, batch.tokens.specials, batch.tokens.lengths[:, None]
        ids = pad(tokens.ids, (1, 1), value=specials.pad).scatter(1, count + 1, specials.sep)
        ids[:, 0] = specials.cls
        origin = pad(batch.inputs.origin, (1, 1), value=-1)
        language = language_ids_at(tokens, origin)
        inputs = stream(ids, origin, arange_rows(ids) < count + 2, padded=tokens.padded, language=language)
        return replace(batch, inputs=inputs)


@dataclass(frozen=True)
class ShiftRight(Arrange):
    """Every position holds the word beside its target; one special token replaces the word that is missing.

    From the left (Radford et al. 2018): [START] and all words but the last. From the right, for a model that reads
    backwards (ELMo, arXiv:1802.05365, sec. 3.1): all words but the first and [END]; a second network may read it. Where
    rows continue those of the step before, the word before the row takes the place of [START].
    """

    side: Literal["left", "right"] = "left"
    add_eos: bool = knob(False, why="One more target, [END] after the last word, so that the model learns to stop.")

    def build(self, batch: Batch) -> Batch:
        tokens, specials, extra = batch.tokens, batch.tokens.specials, int(self.add_eos)
        count = tokens.lengths[:, None] + extra
        position = arange(tokens.ids.shape[1] + extra, count.device).expand(len(count), -1)
        real = position < count
        shown = position - 1 if self.side == "left" else position + 1 - extra
        origin = shown.where(real & (shown >= 0) & (shown < tokens.lengths[:, None]), -1)
        missing = torch.full_like(position, specials.start if self.side == "left" else specials.end)
        if self.side == "left" and (before := tokens.previous_ids) is not None:
            missing[:, 0] = before.where(before >= 0, specials.start)
        ids = gather_origin(tokens.ids, origin).where(origin >= 0, missing).where(real, specials.pad)
        inputs = stream(ids, origin, real, padded=tokens.padded, language=language_ids_at(tokens, origin))
        return replace(batch, inputs=inputs, network="main" if self.side == "left" else "backward")
