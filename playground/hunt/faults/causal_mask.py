"""A causal mask in a model that shall read both sides."""

from dataclasses import replace

from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.objectives.see import SeeAll, SeeLeft
from playground.zoo import Entry


def causal(entry: Entry) -> Entry:
    """The same objective, whose positions attend to earlier ones only."""
    stages = tuple(SeeLeft() if isinstance(stage, SeeAll) else stage for stage in entry.objective.stages)
    return replace(entry, objective=replace(entry.objective, stages=stages))


def sees_the_last_word(suspect: Suspect) -> bool:
    """Whether the first position attends to the last one."""
    return bool(suspect.batch(1).inputs.attn_mask.dense()[0, 0, -1])


CAUSAL_MASK = Fault(
    name="a causal mask in a bidirectional model",
    group="Attention mask",
    symptom="The model fills gaps at the end of a text better than gaps at its beginning.",
    explanation="The encoder kept the triangular mask of a decoder, so a gap is filled from its left side alone.",
    repository="LounesMD/LLaDA_Arithmetic",
    thread="https://github.com/LounesMD/LLaDA_Arithmetic/issues/3",
    law="In a bidirectional model every position attends to every other one.",
    shows="held-out loss, nats",
    figure=lambda suspect: suspect.held_out_loss,
    holds=sees_the_last_word,
    change_entry=causal,
)
