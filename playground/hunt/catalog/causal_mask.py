"""A causal mask in a model that shall read both sides."""

from dataclasses import replace

import torch

from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.see import SeeAll, SeeLeft
from playground.zoo import Entry


def causal(entry: Entry) -> Entry:
    """The same objective, whose positions attend to earlier ones only."""
    return exchange_stage(entry, SeeAll, lambda _: SeeLeft())


@torch.no_grad()
def moved_by_the_right(suspect: Suspect) -> float:
    """How much of the probability moves in gaps of the first half of a text when its second half is another one."""
    batch, model = suspect.batch(32), suspect.learner.model.eval()
    ids, half = batch.inputs.ids, batch.inputs.ids.shape[1] // 2
    other = torch.cat([ids[:, :half], ids[:, half:].roll(1, 0)], dim=1)
    before, after = (
        model(replace(batch, inputs=replace(batch.inputs, ids=each)))[0].scores.softmax(-1) for each in (ids, other)
    )
    first_half = batch.targets[0].loss_positions.positions < half
    return float((after - before)[first_half].abs().sum(-1).mean() / 2)


def sees_the_last_word(suspect: Suspect) -> bool:
    """Whether the first position attends to the last one."""
    return bool(suspect.batch(1).inputs.attn_mask.dense()[0, 0, -1])


CAUSAL_MASK = Fault(
    name="a causal mask in a bidirectional model",
    group="Attention mask",
    symptom="Another end of a text changes nothing at its beginning.",
    explanation="The encoder kept the triangular mask of a decoder, so a gap is filled from its left side alone.",
    repository="LounesMD/LLaDA_Arithmetic",
    thread="https://github.com/LounesMD/LLaDA_Arithmetic/issues/3",
    law="In a bidirectional model every position attends to every other one.",
    shows="the share of probability that moves in gaps of the first half when the second half is another one",
    figure=moved_by_the_right,
    holds=sees_the_last_word,
    change_entry=causal,
)
