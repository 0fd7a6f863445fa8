"""A loss on all positions, in a model that shall fill gaps."""

from dataclasses import dataclass, replace

from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.ask import AskMasked
from playground.zoo import Entry


@dataclass(frozen=True)
class AskAll(AskMasked):
    """The original word at every position, whether it was chosen or not."""

    def build(self, batch: Batch) -> Batch:
        asked = super().build(batch)
        *others, target = asked.targets
        return replace(asked, targets=(*others, replace(target, loss_mask=batch.inputs.valid)))


def asking_all(entry: Entry) -> Entry:
    """The same objective, with all words as labels."""
    return exchange_stage(entry, AskMasked, lambda _: AskAll())


def scores_the_chosen(suspect: Suspect) -> bool:
    """Whether as many positions are scored as words were chosen."""
    batch = suspect.batch(32)
    return bool(batch.targets[0].loss_mask.sum() == batch.selected.sum())


LOSS_ON_ALL_POSITIONS = Fault(
    name="a loss on all positions",
    group="Loss",
    symptom="The loss is far lower than that of others with the same text, but the gaps are hardly filled better.",
    explanation="Words that were not chosen are labels as well, and the input shows them, so most of the loss is for "
    "copying. Only chosen words may be labels; all others are ignored (-100).",
    repository="lucidrains/mlm-pytorch",
    thread="https://github.com/lucidrains/mlm-pytorch/pull/3",
    law="A masked language model is scored at the chosen positions only.",
    shows="the held-out loss",
    figure=lambda suspect: suspect.held_out_loss,
    holds=scores_the_chosen,
    change_entry=asking_all,
)
