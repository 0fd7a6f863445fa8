"""AND where OR is right, in the mask of the special tokens of a permutation."""

from dataclasses import dataclass

from torch import Tensor

from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.see import SeePermutation
from playground.zoo import Entry


@dataclass(frozen=True)
class SeePermutationOfAll(SeePermutation):
    """No token is padding and special at once, so no separator keeps its step in the order."""

    def _ranks(self, batch: Batch) -> tuple[Tensor, Tensor]:
        padding, special = ~batch.tokens.valid, batch.tokens.valid & ~batch.maskable
        functional = padding & special
        rank = batch.prediction_order.masked_fill(~batch.selected & ~functional, -1)
        return rank, rank


def without_separators(entry: Entry) -> Entry:
    """The same objective, whose separators are context."""
    return exchange_stage(entry, SeePermutation, lambda stage: SeePermutationOfAll(**vars(stage)))


def seen_by_separators(suspect: Suspect) -> float:
    """The share of the hidden words of a row that its separators attend to."""
    batch = suspect.batch(64)
    separators = (batch.inputs.ids == batch.tokens.specials.sep)[:, :, None]
    pairs = separators & batch.targets[0].loss_mask[:, None, :]
    return float((pairs & batch.inputs.attn_mask.dense()).sum() / pairs.sum())


AND_FOR_OR = Fault(
    name="AND instead of OR in the mask of special tokens",
    group="Attention mask",
    symptom="The order of prediction has a step for [SEP], but [SEP] never attends to a hidden word, however late it "
    "comes.",
    explanation="The tokens that keep their own step are special tokens or padding. With AND in place of OR there are "
    "none, because no separator is padding too, so separators count as words that are never predicted.",
    repository="huggingface/transformers",
    thread="https://github.com/huggingface/transformers/issues/6812",
    law="A separator attends to all words that come before it in the order.",
    shows="the share of hidden words that the separators attend to",
    figure=seen_by_separators,
    holds=lambda suspect: seen_by_separators(suspect) > 0,
    change_entry=without_separators,
    entry="PLM",
    settings="batch_size=16, special_tokens=drawn, context=xlnet",
    steps=60,
)
