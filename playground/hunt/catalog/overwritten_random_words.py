"""[MASK] written over the random words."""

from dataclasses import dataclass, replace

import torch
from torch import Generator

from playground.batch import Action, Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.change import ChangeTokens
from playground.objectives.change.tokens import Corruption
from playground.zoo import Entry


@dataclass(frozen=True)
class ChangeTokensTwice(ChangeTokens):
    """Two independent draws: random words first, then [MASK] at all that are not kept, random words too."""

    def plan(self, batch: Batch, rng: Generator) -> Corruption:
        sound = super().plan(batch, rng)
        random, kept = torch.rand((2, len(sound.positions)), generator=rng, device=rng.device)
        action = torch.full_like(sound.action, Action.SCORED_AS_IS)
        action[random < self.random_replace_prob] = Action.RANDOMISED
        action[kept < self.mask_replace_prob + self.random_replace_prob] = Action.MASKED
        return replace(sound, action=action)


def overwriting(entry: Entry) -> Entry:
    """The same objective with two draws instead of one."""
    return exchange_stage(entry, ChangeTokens, lambda stage: ChangeTokensTwice(**vars(stage)))


def random_share(suspect: Suspect) -> float:
    """The share of random words among the chosen ones."""
    batches = [suspect.batch(64, draw) for draw in range(4)]
    actions = torch.cat([batch.actions[batch.selected] for batch in batches])
    return float((actions == Action.RANDOMISED).double().mean())


OVERWRITTEN_RANDOM_WORDS = Fault(
    name="[MASK] written over the random words",
    group="Objective",
    symptom="90 % of the chosen words are [MASK], and hardly one of them is a random word.",
    explanation="Random words were put in first, and a second draw over all chosen words then wrote [MASK] over most "
    "of them. One draw must decide: 80 % [MASK], 10 % a random word, 10 % unchanged.",
    repository="lucidrains/mlm-pytorch",
    thread="https://github.com/lucidrains/mlm-pytorch/issues/6",
    law="Of the chosen words 80 % become [MASK], 10 % become a random word, and 10 % stay.",
    shows="the share of random words among the chosen ones",
    figure=random_share,
    holds=lambda suspect: random_share(suspect) > 0.05,
    change_entry=overwriting,
    steps=60,
)
