"""Recurrence over segments, as in Transformer-XL, extends the attention span beyond a row."""

import torch

from playground.claims import Arm, Claim, Lab, higher, lower
from playground.corpora import pick
from playground.training.segment_memory import extended, with_mems

DISTANCE, STRETCHES = "18", 32
"""Words between a last word and the one that decides it, and stretches of text that are read side by side."""


def last_words(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of last words at the distance that are right, read row after row with the memory of the arm."""
    learner, corpus, rng = lab.learner(arm, seed), lab.corpus(arm), lab.subject(arm, seed).rng("memory")
    rows, model = corpus.windows(learner.entry.recipe.seq_len, "held_out", in_order=True), learner.model.eval()
    length, mems, hits = len(rows.ids) // STRETCHES, (), []
    for number in range(length):
        at = number + length * torch.arange(STRETCHES)
        known = {"previous_ids": rows.ids[at - 1, -1]} if mems else {}
        batch, states = learner.objective.batch(pick(rows, at, **known), rng), []
        with torch.no_grad():
            answer = model(with_mems(batch, mems), states=states)[0]
        mems = extended(mems, states, model.shape.mem_len) if model.shape.mem_len else ()
        right = answer.right()
        assert right is not None
        gap = batch.tokens.labels["gap"][answer.rows, answer.positions]
        hits.append(right[gap == corpus.label_names["gap"].index(DISTANCE)])
    return float(torch.cat(hits).float().mean())


K029 = Claim(
    title="A memory of the row before",
    source="Weng, XLNet; From Static Embedding to Contextualized Embedding, XLNet; Qiu et al., sec. 8.2; Dai et al., "
    "arXiv:1901.02860, sec. 3.2",
    prediction="In rows of 16 tokens a word whose cue comes 18 words before it is right in most texts with a memory of "
    "16 states, and in less than a fifth without.",
    otherwise="The memory does not help, or is not needed.",
    common=Arm("LM", corpus="gaps"),
    arms={
        "memory": {"settings": "positions=relative, seq_len=16, mem_len=16"},
        "no memory": {"settings": "positions=relative, seq_len=16, mem_len=0"},
    },
    compute=last_words,
    rules=(higher("memory", 0.5), lower("no memory", 0.2)),
    unit="of the texts",
    seeds=4,
    scale="A cue that is repeated word by word, so that looking back is all that is needed. What the memory adds to "
    "XLNet, which does without it on short texts, is left out.",
)
