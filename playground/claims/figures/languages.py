"""Models of one language or of both, on text of the two languages of the playground."""

from collections import deque
from dataclasses import replace

import torch

from playground.claims import Arm, Lab
from playground.claims.lab import entry_of
from playground.corpora import Corpus
from playground.finetuning.apply.crosslingual import alone
from playground.training.data import BatchSampler
from playground.training.loop import Run, events_of, prepared
from playground.training.train_state import TrainState


def trained(lab: Lab, arm: "Arm", seed: int, corpus: Corpus) -> TrainState:
    """The entry of an arm after its steps on a corpus."""

    def make() -> TrainState:
        state = prepared(Run(entry_of(arm), corpus, seed, torch.device("cpu")))
        deque(events_of(state), maxlen=0)
        return state.learner

    return lab.once(("language", arm.entry, arm.settings, arm.corpus, arm.steps, corpus.name, seed), make)


def second_language_loss(lab: Lab, arm: "Arm", seed: int) -> float:
    """The loss on held-out text of the second language, after training on the text that the figure names."""
    both = lab.corpus(arm)
    second = alone(both, 1)
    learner = trained(lab, arm, seed, second if arm.figure == "second language alone" else replace(both, labels={}))
    loss = learner.pretraining_loss(BatchSampler.of_learner(learner, second).evaluation())
    assert loss is not None
    return loss
