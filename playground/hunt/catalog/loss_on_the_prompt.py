"""A loss on the prompt, which the model reads from both sides."""

from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.ask import AskContinuation
from playground.zoo import Entry


def asking_the_prompt(entry: Entry) -> Entry:
    """The same objective, in which the words of the first part are labels too."""
    return exchange_stage(entry, AskContinuation, lambda _: AskContinuation(loss_on="all"))


def scores_the_second_part(suspect: Suspect) -> bool:
    """Whether every label is a word of the second part."""
    batch = suspect.batch(32)
    target = batch.targets[0]
    return bool(batch.selected.gather(1, target.origin.clamp(min=0))[target.loss_mask].all())


LOSS_ON_THE_PROMPT = Fault(
    name="a loss on the prompt",
    group="Loss",
    symptom="The loss is far lower than that of others with the same text, but texts are continued no better.",
    explanation="The words of the prompt are labels as well. Its positions attend to one another in both directions, "
    "so each sees the word that it predicts, and most of the loss is for copying. Only the words after the "
    "prompt may be labels.",
    repository="bigscience-workshop/Megatron-DeepSpeed",
    thread="https://github.com/bigscience-workshop/Megatron-DeepSpeed/issues/21",
    law="A prefix language model is scored after its prompt only.",
    shows="the held-out loss",
    figure=lambda suspect: suspect.held_out_loss,
    holds=scores_the_second_part,
    change_entry=asking_the_prompt,
    entry="seq2seq LM",
)
