"""Dropout that stays on in evaluation."""

from copy import deepcopy
from dataclasses import replace

import torch
from torch import Generator, Tensor

from playground.hunt.fault import Fault
from playground.hunt.suspect import Suspect
from playground.models.dropout import Dropout
from playground.rng import generator
from playground.training.train_state import TrainState


class DropoutAlwaysOn(Dropout):
    """Dropout that draws from a generator of its own where no step of training gives one."""

    def __init__(self, rate: float, own: Generator) -> None:
        super().__init__(rate)
        self.own = own

    def forward(self, x: Tensor) -> Tensor:
        kept = torch.rand(x.shape, generator=self.rng or self.own, device=x.device) >= self.rate
        return x * kept / (1 - self.rate)


def never_in_evaluation_mode(learner: TrainState) -> TrainState:
    """The learner with a copy of its model whose dropout is always on."""
    model, rng = deepcopy(learner.model), generator(learner.seed, "dropout in evaluation", device=learner.device)
    every = [(module, *child) for module in model.modules() for child in module.named_children()]
    for module, name, child in every:
        if isinstance(child, Dropout):
            setattr(module, name, DropoutAlwaysOn(child.rate, rng))
    learner = replace(learner, model=model)
    learner.enter_phase()
    return learner


@torch.no_grad()
def moved_between_evaluations(suspect: Suspect) -> float:
    """How much of the probability moves between two evaluations of the same rows."""
    batch, model = suspect.batch(32), suspect.learner.model.eval()
    first, second = (model(batch)[0].scores.softmax(-1) for _ in range(2))
    return float((first - second).abs().sum(-1).mean() / 2)


DROPOUT_IN_EVALUATION = Fault(
    name="dropout that stays on in evaluation",
    group="Evaluation",
    symptom="Two evaluations of the same model on the same texts give two results.",
    explanation="Dropout was applied without regard to the mode of the model, so model.eval() did not switch it off. "
    "In evaluation every number of the network is used.",
    repository="karpathy/nanoGPT",
    thread="https://github.com/karpathy/nanoGPT/pull/240",
    law="In evaluation the same model gives the same answers to the same texts.",
    shows="the share of probability that moves between two evaluations of the same rows",
    figure=moved_between_evaluations,
    holds=lambda suspect: moved_between_evaluations(suspect) == 0,
    change_learner=never_in_evaluation_mode,
    settings="batch_size=16, dropout=0.1",
)
