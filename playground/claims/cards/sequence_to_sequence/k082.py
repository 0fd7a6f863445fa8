"""One text-to-text model does the task that the prefix before a text names; with the prefix of another task it does the
other task."""

from dataclasses import replace

import torch

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.text import answered, held_out

ANSWERS = {"cola": ("acceptable", "unacceptable"), "sst2": ("positive", "negative")}
"""Two tasks of one sentence each, which differ in the first word of the prefix only."""


def answers_of_task(lab: Lab, arm: Arm, seed: int) -> float:
    """How often the first written word is an answer of the task that the prefix names."""
    subject, encode = lab.subject(arm, seed), lab.corpus(arm).tokenizer.encode_words
    batch, right = held_out(lab, arm, seed), []
    for own, other in (("cola", "sst2"), ("sst2", "cola")):
        rows = batch.inputs.ids[:, 0] == encode([own])[0]
        named = other if arm.figure == "another prefix" else own
        ids = batch.inputs.ids.clone()
        ids[rows, 0] = encode([named])[0]
        answer = answered(subject, replace(batch, inputs=replace(batch.inputs, ids=ids)))
        first = (answer.positions == 0) & rows[answer.rows]
        right.append(torch.isin(answer.scores[first].argmax(-1), torch.tensor(encode(ANSWERS[named]))))
    return float(torch.cat(right).float().mean())


K082 = Claim(
    title="The prefix names the task",
    source="Liu et al., sec. 2.3; Raffel et al., arXiv:1910.10683, sec. 2.4",
    prediction="With its own prefix and with that of another task, at least nine in ten answers are answers of the "
    "task that is named.",
    otherwise="The model answers by the text and ignores another prefix.",
    common=Arm(entry="text-to-text", corpus="text to text"),
    arms={"own prefix": {"figure": "own prefix"}, "another prefix": {"figure": "another prefix"}},
    compute=answers_of_task,
    rules=(higher("own prefix", 0.0, by=0.9), higher("another prefix", 0.0, by=0.9)),
    unit="of the answers",
    scale="This shows which task is done, not that it is done well. The texts of the two tasks have other words, so a "
    "model could also ignore the prefix.",
)
