"""Labels that are not shifted, in a language model."""

from dataclasses import dataclass, replace

from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.ask import AskNext
from playground.zoo import Entry


@dataclass(frozen=True)
class AskSame(AskNext):
    """The word that a position reads, as its own label."""

    def build(self, batch: Batch) -> Batch:
        asked, inputs = super().build(batch), batch.inputs
        *others, target = asked.targets
        return replace(asked, targets=(*others, replace(target, labels=inputs.ids, origin=inputs.origin)))


def unshifted(entry: Entry) -> Entry:
    """The same objective, with its input as labels."""
    return exchange_stage(entry, AskNext, lambda stage: AskSame(**vars(stage)))


def asks_for_another_word(suspect: Suspect) -> bool:
    """Whether some label is another word than the one that its position reads."""
    batch = suspect.batch(8)
    return bool((batch.targets[0].labels != batch.inputs.ids).any())


UNSHIFTED_LABELS = Fault(
    name="labels that are not shifted",
    group="Loss",
    symptom="The loss of a language model is almost 0 after a minute, but what it writes repeats one word.",
    explanation="The scores at a position were compared with the word at the same position, which the model reads. "
    "They must be compared with the next word.",
    repository="huggingface/transformers",
    thread="https://github.com/huggingface/transformers/pull/404",
    law="The label of a position is the word after the one that it reads.",
    shows="the held-out loss",
    figure=lambda suspect: suspect.held_out_loss,
    holds=asks_for_another_word,
    change_entry=unshifted,
    entry="LM",
    steps=100,
)
