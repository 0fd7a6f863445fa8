"""The importance of heads by gradient, and what is left when they are pruned by it (arXiv:1905.10650, sec. 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import scipy
import torch
from torch import Tensor

from playground.analysis.finding import Bars, Curve, Finding, Number, Table, melt
from playground.analysis.instrument import Instrument, attends, scores_words
from playground.analysis.interventions import row_losses
from playground.analysis.subject import Subject
from playground.batch import Batch
from playground.knob import knob
from playground.models import LanguageModel
from playground.models.taps import head_names, tapped

POINTS = 12
"""Points of a pruning curve."""


@dataclass(frozen=True)
class Settings:
    """How much is read."""

    texts: int = knob(32, 2, 256, unit="held-out texts", why="More texts, less noise, more time.")


def importances(model: LanguageModel, batch: Batch, heads: Sequence[str]) -> Tensor:
    """The mean size of the derivative of a text's loss by a factor before each head, `[h]`."""
    factors = {head: torch.ones(len(batch.tokens.ids), 1, 1, requires_grad=True) for head in heads}
    with torch.enable_grad(), tapped(model, *heads) as taps:
        for head, factor in factors.items():
            taps.change(head, factor.mul)
        slopes = torch.autograd.grad(row_losses(model, batch).sum(), list(factors.values()))
    return torch.stack([slope.abs().mean() for slope in slopes])


def normalised(heads: Sequence[str], values: Tensor) -> Tensor:
    """The importances divided by the length of those of their layer, as in the paper."""
    layers = [head.rpartition(".")[0] for head in heads]
    squares = dict.fromkeys(layers, 0.0)
    for value, layer in zip(values.tolist(), layers, strict=True):
        squares[layer] += value**2
    return torch.tensor([v / max(squares[own] ** 0.5, 1e-30) for v, own in zip(values.tolist(), layers, strict=True)])


@torch.no_grad()
def pruned(model: LanguageModel, batch: Batch, order: Sequence[str], counts: Sequence[int]) -> list[float]:
    """The loss without the first heads of an order, for each of some counts."""
    found = []
    with tapped(model, *order) as taps:
        for count in counts:
            taps.restore()
            taps.zero(*order[:count])
            found.append(float(row_losses(model, batch).mean()))
    return found


def measure(subject: Subject, settings: Settings) -> Finding:
    """Importances, their agreement with switching off, and the loss when heads are pruned in their order."""
    model, batch, heads = subject.model, subject.batch(settings.texts), head_names(subject.model)
    raw = importances(model, batch, heads)
    scaled = normalised(heads, raw)
    counts = sorted({round(len(heads) * k / POINTS) for k in range(POINTS + 1)})
    order = [heads[k] for k in scaled.argsort(stable=True).tolist()]
    shuffled = [heads[k] for k in torch.randperm(len(heads), generator=subject.rng("pruning")).tolist()]
    curves = {"least important first": order, "most important first": order[::-1], "random order": shuffled}
    losses = {name: pruned(model, batch, way, counts) for name, way in curves.items()}
    whole, alone = losses["random order"][0], [pruned(model, batch, [head], [1])[0] for head in heads]
    agreement = float(scipy.stats.spearmanr(raw.numpy(), [loss - whole for loss in alone]).statistic)  # type: ignore[attr-defined]
    half, unit = counts[len(counts) // 2], subject.objective.unit()
    at = {name: each[len(counts) // 2] for name, each in losses.items()}
    return Finding(
        f"Without the {half} least important of {len(heads)} heads the loss is {at['least important first']:.3f} "
        f"{unit}, without the {half} most important {at['most important first']:.3f}, with all {whole:.3f}.",
        (
            Number("loss with half of the heads", at["least important first"], unit,
                   {"all heads": whole, "random half": at["random order"]}),
            Number("agreement with switching off", agreement, "Spearman's rank correlation", {"chance": 0.0}),
        ),
        (
            Table("Importance of each head",
                  {"head": list(heads), "importance": scaled.tolist(), "before scaling": raw.tolist()},
                  Bars("head", "importance"), note="The squares of the importances of a layer add up to 1."),
            Table("Pruning", melt("heads off", counts, "loss", losses, "order"), Curve("heads off", "loss", "order"),
                  unit=unit, lines={"all heads": whole}),
        ),
    )  # fmt: skip


HEAD_IMPORTANCE = Instrument(
    name="head importance",
    group="Intervene",
    question="Which heads are important by their gradients, and how many can be pruned?",
    source="arXiv:1905.10650, sec. 4; there heads are pruned step by step, here in one order",
    measure=measure,
    rows=("V28",),
    needs=(
        scores_words,
        attends,
    ),
    settings=Settings(),
)
