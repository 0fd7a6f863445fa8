"""One token for the end of a text and for padding."""

from dataclasses import dataclass, replace

import torch

from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.ask import AskAnswer
from playground.zoo import Entry


@dataclass(frozen=True)
class AskAnswerWithoutEnd(AskAnswer):
    """[END] is the padding token too, and a label that is padding is not scored."""

    def build(self, batch: Batch) -> Batch:
        asked = super().build(batch)
        *others, target = asked.targets
        real = target.labels != batch.tokens.specials.end
        return replace(asked, targets=(*others, replace(target, loss_mask=target.loss_mask & real)))


def padded_with_end(entry: Entry) -> Entry:
    """The same objective with [END] as its padding token."""
    return exchange_stage(entry, AskAnswer, lambda stage: AskAnswerWithoutEnd(**vars(stage)))


@torch.no_grad()
def end_of_answers(suspect: Suspect) -> float:
    """The mean probability of [END] right after the last word of an answer."""
    batch, model = suspect.batch(64), suspect.learner.model.eval()
    target, end = batch.targets[-1], batch.tokens.specials.end
    every = replace(target, loss_mask=batch.stream_of(target).valid)
    scores = model(replace(batch, targets=(every,)))[0].scores.softmax(-1)
    return float(scores[every.labels[every.loss_mask] == end, end].mean())


def scores_the_end(suspect: Suspect) -> bool:
    """Whether [END] is a label."""
    batch = suspect.batch(8)
    target = batch.targets[-1]
    return bool((target.labels[target.loss_mask] == batch.tokens.specials.end).any())


PAD_IS_END = Fault(
    name="one token for padding and for the end",
    group="Data",
    symptom="Answers are good at first, but the model never stops; it writes until it is cut.",
    explanation="The padding token was set to the end token. Labels that are padding are ignored, so the end of each "
    "answer is ignored with them, and nobody teaches the model to stop. Padding needs a token of its own.",
    repository="mlabonne/llm-course",
    thread="https://github.com/mlabonne/llm-course/issues/33",
    law="The end of every answer is a label.",
    shows="the probability of [END] after the last word of an answer",
    figure=end_of_answers,
    holds=scores_the_end,
    change_entry=padded_with_end,
    entry="text to text",
    corpus="text to text",
    steps=100,
)
