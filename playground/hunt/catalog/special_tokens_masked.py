"""Special tokens that are masked and predicted like words."""

from dataclasses import dataclass

from torch import Tensor

from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.choose import ChooseTokens
from playground.zoo import Entry


@dataclass(frozen=True)
class ChooseAnyTokens(ChooseTokens):
    """Mark a share of all tokens, special tokens too."""

    def candidates(self, batch: Batch) -> Tensor:
        """All tokens of the text, `[b, t]`."""
        return batch.tokens.valid


def any_token(entry: Entry) -> Entry:
    """The same objective, which masks any token."""
    return exchange_stage(entry, ChooseTokens, lambda stage: ChooseAnyTokens(**vars(stage)))


def special_answers(suspect: Suspect) -> float:
    """The share of the answers that are special tokens."""
    batch = suspect.batch(256)
    [target] = batch.targets
    return float((~batch.tokens.specials.in_text(target.scored(target.labels))).float().mean())


SPECIAL_TOKENS_MASKED = Fault(
    name="special tokens that are masked and predicted",
    group="Objective",
    symptom="At some of the scored positions the right answer is [SEP].",
    explanation="The mask was drawn over all positions, also over those of [CLS] and [SEP]. These follow from where "
    "they are, so the model learns little from them; only words are masked.",
    repository="huggingface/transformers",
    thread="https://github.com/huggingface/transformers/issues/1395",
    law="No special token is masked.",
    shows="the share of answers that are special tokens",
    figure=special_answers,
    holds=lambda suspect: special_answers(suspect) == 0,
    change_entry=any_token,
    steps=60,
)
