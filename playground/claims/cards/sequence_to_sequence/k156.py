"""A control code at the start of a text steers what a language model writes; without one its topic is random."""

import torch

from playground.analysis.generation import Generation, write
from playground.claims import Arm, Claim, Lab, higher

TEXTS = 10
"""Texts for each topic."""


def agreement(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of texts whose topic, by the counts of their words, is the requested one."""
    subject, corpus = lab.subject(arm, seed), lab.corpus(arm)
    topics, ids = (each[: corpus.held_out_from] for each in (corpus.labels["topic"], corpus.ids))
    counts = torch.zeros(len(corpus.label_names["topic"]), len(subject.tokenizer.words)).double()
    counts.index_put_((topics[topics >= 0].long(), ids[topics >= 0]), torch.tensor(1.0).double(), accumulate=True)
    chances = ((counts + 0.1) / (counts + 0.1).sum(1, keepdim=True)).log()  # naive Bayes
    hits = []
    for topic in range(len(chances)):
        code = topic + 1 if arm.figure == "with the code" else 0
        how = Generation(do_sample=True, num_return_sequences=TEXTS, control_code=code, seed=100 * seed + topic)
        made = write(subject.model, subject.objective, [], subject.tokenizer.specials, how)
        hits += [int(chances[:, list(one.shown)].sum(1).argmax()) == topic for one in made]
    return sum(hits) / len(hits)


K156 = Claim(
    title="Control codes steer the topic",
    source="Liu et al., sec. 8 and 3.1; Keskar et al., arXiv:1909.05858",
    prediction="At least 90 % of the texts have the topic of their code, and without a code at least 50 % fewer have "
    "the requested one.",
    otherwise="Fewer than 90 % follow the code.",
    common=Arm("conditional LM", corpus="stories", steps=400),
    arms={name: {"figure": name} for name in ("with the code", "without a code")},
    rules=(higher("with the code", 0.9), higher("with the code", "without a code", by=0.5)),
    compute=agreement,
    unit="of the texts",
    scale="Six topics, each with words of its own; naive Bayes on these words names the topic of a text. Codes for "
    "style or source are not here.",
)
