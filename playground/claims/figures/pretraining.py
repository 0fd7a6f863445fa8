"""Pre-training that the fields of an arm cannot say: on one corpus with the vocabulary of another."""

from collections import deque

import torch

from playground.claims import Arm, Lab
from playground.claims.lab import corpus_of, entry_of
from playground.corpora import Corpus, open_corpus
from playground.finetuning.run.base import Base, base_of
from playground.training.loop import Run, events_of, prepared
from playground.training.train_state import TrainState

SHARED = "world"
"""The corpus whose vocabulary all have."""


def pre_trained(lab: Lab, arm: Arm, seed: int, start: TrainState | None = None) -> Base:
    """The entry of an arm after its steps on its corpus, in the words of `world`; `start` gives the first weights."""

    def make() -> Base:
        corpus = in_shared_words(arm.corpus)
        state = prepared(Run(entry_of(arm), corpus, seed, torch.device("cpu")))
        if start is not None:
            state.learner.model.load_state_dict(start.model.state_dict())
        deque(events_of(state), maxlen=0)
        return base_of(state.learner, corpus)

    return lab.once(("in shared words", arm.entry, arm.settings, arm.corpus, arm.steps, start is None, seed), make)


def in_shared_words(name: str) -> Corpus:
    """A corpus in the words of `world`."""
    world = corpus_of(SHARED, 0)
    return world if name == SHARED else open_corpus(name, tokenizer=world.tokenizer)
