"""Padding that is attended to."""

from dataclasses import dataclass

import torch

from playground.batch import Batch, full_mask
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.see import SeeAll
from playground.objectives.see.single_stack import with_mask
from playground.slicing import split_rows
from playground.zoo import Entry


@dataclass(frozen=True)
class SeePadding(SeeAll):
    """Every position attends to every other one, padding included."""

    def build(self, batch: Batch) -> Batch:
        return with_mask(batch, full_mask(torch.ones_like(batch.inputs.valid), padded=True))


def unmasked(entry: Entry) -> Entry:
    """The same objective without a mask for padding."""
    return exchange_stage(entry, SeeAll, lambda _: SeePadding())


@torch.no_grad()
def moved_by_padding(suspect: Suspect) -> float:
    """How much of the probability in gaps moves when each pair of texts is read alone, without padding."""
    batch, model = suspect.batch(32), suspect.learner.model.eval()
    together = model(batch)[0].scores.softmax(-1)
    alone = torch.cat([model(row)[0].scores.softmax(-1) for row in split_rows(batch, 1, trim=True)])
    return float((together - alone).abs().sum(-1).mean() / 2)


def hides_padding(suspect: Suspect) -> bool:
    """Whether no position of a text attends to padding."""
    inputs = suspect.batch(32).inputs
    pairs = inputs.valid[:, :, None] & ~inputs.valid[:, None, :]
    return not bool((pairs & inputs.attn_mask.dense()).any())


ATTENDED_PADDING = Fault(
    name="padding that is attended to",
    group="Attention mask",
    symptom="A prediction changes with the length of the other texts of its batch.",
    explanation="The attention mask of the tokenizer was not passed to the model, so it reads [PAD] like any word.",
    repository="CarryCKW/AES-NPCR",
    thread="https://github.com/CarryCKW/AES-NPCR/issues/7",
    law="No position of a text attends to padding.",
    shows="the share of probability in gaps that moves when a text is read alone",
    figure=moved_by_padding,
    holds=hides_padding,
    change_entry=unmasked,
    entry="MLM + NSP",
    steps=100,
)
