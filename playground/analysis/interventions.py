"""What a model loses when parts of it are switched off: its loss on held-out text and its zero-shot probes."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from playground.analysis.probes import PROBES, EncodedProbe, asked
from playground.analysis.subject import Subject
from playground.batch import Batch
from playground.models import LanguageModel


def row_losses(model: LanguageModel, batch: Batch) -> Tensor:
    """The loss that is trained, of each text `[b]` alone: the weighted sum of the mean losses of its targets."""
    total = model.token_embedding.weight.new_zeros(len(batch.tokens.ids))
    for answer in model(batch):
        total = total + answer.target.weight * answer.row_means()
    return total


def probes_of(subject: Subject) -> tuple[EncodedProbe, ...]:
    """The probes of agreement, polarity and facts that the corpus has the words for; made once."""
    return subject.once("zero-shot probes", lambda: asked(PROBES, subject.corpus, subject.model))


@torch.no_grad()
def scores(model: LanguageModel, batch: Batch, probes: Sequence[EncodedProbe]) -> tuple[Tensor, Mapping[str, float]]:
    """The loss of each text `[b]` in nats, and the share of each probe that is right."""
    return row_losses(model, batch), {probe.gauge.name: probe.measure(model) for probe in probes}


def standard_error(values: Tensor) -> float:
    """The standard error of a mean."""
    return float(values.std() / len(values) ** 0.5) if len(values) > 1 else float("nan")
