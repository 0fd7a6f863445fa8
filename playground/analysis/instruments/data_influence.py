"""What taught it, and when: retraining without groups of texts, three estimates of it, and checkpoints."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.func import functional_call

from playground.analysis.cloze import gap_of, with_gap
from playground.analysis.finding import Bars, Curve, Finding, Number, Rows, Scatter, Table, melt
from playground.analysis.influence import (
    GradientDescent,
    Query,
    Weights,
    agreement,
    descend,
    dot_product,
    gradient,
    group_gradients,
    influence_function,
    left_out,
    tracin,
)  # fmt: skip
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.landscape import weights_of
from playground.analysis.subject import Subject
from playground.analysis.words.vectors import id_of
from playground.answers import Answer, total_loss
from playground.batch import Batch
from playground.corpora import pick
from playground.knob import knob
from playground.models import LanguageModel

LARGEST = 1_000_000
"""Weights of a model that is retrained again and again."""

CHECKPOINTS, QUERIED = 5, 8
"""Checkpoints that TracIn sums over, or one more, and held-out rows whose loss is the query without a sentence."""


@dataclass(frozen=True)
class Settings:
    """What is to be explained, and how the model goes on learning."""

    sentence: str = knob("", why="A sentence with one [MASK]; empty: the loss of eight held-out rows.")
    answer: str = knob("", why="The word whose probability in the gap is explained.")
    groups: int = knob(
        64, 4, 256, unit="groups", why="Each group is left out once, and the model retrained without it."
    )
    rows: int = knob(1, 1, 16, unit="texts", why="Texts in a group.")
    steps: int = knob(16, 2, 400, unit="steps", why="Steps of gradient descent from the model as it is.")
    batch: int = knob(8, 2, 64, unit="groups", why="Groups in one batch; the batches take turns.")
    rate: float = knob(0.03, 0.001, 10.0, unit="learning rate", why="Learning rate of plain gradient descent.")
    damping: float = knob(1.0, 0.001, 1000.0, unit="", why="Added to the Hessian, which may have negative eigenvalues.")
    solver_steps: int = knob(15, 1, 200, unit="steps", why="Steps of conjugate gradients.")


def trains_on_plain_rows(subject: Subject) -> str:
    """Its objective reads rows of plain text, and the model is small enough to be retrained many times."""
    objective, size = subject.objective, sum(p.numel() for p in subject.model.parameters())
    if objective.needs or objective.proposes:
        return f"The objective {objective.name} reads more than rows of plain text, so no single row can be left out."
    if size > LARGEST:
        return f"The model has {size:,} weights; to be retrained 64 times it may have {LARGEST:,}."
    return ""


class Copy:
    """A copy of a subject's model whose losses are functions of the weights."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = deepcopy(model).cpu().eval()
        self.names = [name for name, _ in self.model.named_parameters()]
        self.start = weights_of(self.model.parameters())

    def answers(self, weights: Weights, batch: Batch) -> tuple[Answer, ...]:
        return functional_call(self.model, dict(zip(self.names, weights, strict=True)), (batch,))

    def mean_loss(self, weights: Weights, batch: Batch) -> Tensor:
        """The loss that is trained: the weighted sum of the mean losses of all questions, in nats."""
        return total_loss(self.answers(weights, batch))[0]

    def loss_by_group(self, weights: Weights, batch: Batch, group: Tensor, groups: int) -> Tensor:
        """What the rows of each group add to that loss, `[g]`; `group` `[r]` is that of each row."""
        found = torch.zeros(groups)
        for answer in self.answers(weights, batch):
            losses = answer.target.weight * answer.weighted_losses() / max(1, answer.target.total)
            found = found.index_add(0, group[answer.rows], losses)
        return found


def query_of(subject: Subject, copy: Copy, settings: Settings) -> tuple[Query, str, str]:
    """The loss to be explained, what it is in words, and its unit."""
    if not settings.sentence:
        held_out = subject.batch(QUERIED)
        said, unit = f"the loss of {QUERIED} held-out rows", subject.objective.unit()
        return (lambda weights: copy.mean_loss(weights, held_out)), said, unit
    tokens, position = gap_of(settings.sentence, subject.tokenizer)
    batch, word = with_gap(subject.model.shape, tokens, position), id_of(subject, settings.answer)

    def surprise(weights: Weights) -> Tensor:
        return -copy.answers(weights, batch)[-1].scores.log_softmax(-1)[0, word]

    return surprise, f"the loss of {settings.answer!r} in {settings.sentence!r}", "nats"


def training_of(subject: Subject, copy: Copy, settings: Settings) -> tuple[GradientDescent, list[str]]:
    """Gradient descent on groups of rows of the training text, and the words of each group."""
    length = subject.held_out.ids.shape[1]
    rows = subject.corpus.windows(length)
    needed = settings.groups * settings.rows
    chosen = torch.randperm(len(rows.ids), generator=subject.rng("influence rows"))[:needed]
    groups = max(1, len(chosen) // settings.rows)
    chosen = chosen[: groups * settings.rows]
    of = torch.arange(len(chosen)) // settings.rows
    parts = torch.arange(len(chosen)).split(settings.batch * settings.rows)
    examples = [
        (subject.objective.batch(pick(rows, chosen[part]), subject.rng("influence", k)), of[part])
        for k, part in enumerate(parts)
    ]

    def terms(weights: Weights, batch: int) -> Tensor:
        return copy.loss_by_group(weights, *examples[batch], groups)

    turns = [step % len(parts) for step in range(settings.steps)]
    spelt = [" ".join(rows.vocabulary[k] for k in rows.ids[c].tolist()) for c in chosen.view(groups, -1)[:, 0].tolist()]
    batch_of = [g // settings.batch for g in range(groups)]
    return GradientDescent(copy.start, terms, turns, settings.rate, batch_of), spelt


def measure(subject: Subject, settings: Settings) -> Finding:
    """Retrain without each group, and compare three estimates with the result by rank correlation."""
    copy = Copy(subject.model)
    query, said, unit = query_of(subject, copy, settings)
    training, words = training_of(subject, copy, settings)
    path = descend(training, keep=max(1, settings.steps // CHECKPOINTS))
    subject.count(training.groups, "groups of training texts")
    truth, end = left_out(training, query), path[-1]
    own = group_gradients(training, end)
    estimates = {
        "gradient dot product": dot_product(training, query, end, own),
        "TracIn over checkpoints": tracin(training, query, path[:-1]),
        "influence function": influence_function(training, query, end, settings.damping, settings.solver_steps, own),
    }
    found = {name: agreement(estimate, truth) for name, estimate in estimates.items()}
    with torch.no_grad():
        before, after = float(query(copy.start)), float(query(end))
    order = truth.argsort(descending=True).tolist()
    higher = truth[order].tolist()
    best = max(found, key=lambda name: found[name].value)
    return Finding(
        f"Of the estimates, {best} ranks {training.groups} groups most like leaving each out: "
        f"Spearman {found[best].value:.2f}.",
        (
            Number("loss after training", after, f"{unit}, {said}", {"before": before}),
            *(Number(name, one.value, "Spearman with the truth", {"from": one.low, "to": one.high, "no relation": 0.0})
              for name, one in found.items()),
        ),
        (
            Table("Influence of each group", {"group": [f"group {k + 1}" for k in order], "higher without it": higher},
                  Bars("group", "higher without it"), unit, note="Below 0: the loss is lower without the group."),
            _against(estimates, truth, unit),
            Table("Groups by influence", {
                "group": [k + 1 for k in order],
                "higher without it": higher,
                **{name: one[order].tolist() for name, one in estimates.items()},
                "begins with": [words[k] for k in order],
            }, Rows()),
        ),
    )  # fmt: skip


def _against(estimates: dict[str, Tensor], truth: Tensor, unit: str) -> Table:
    """Each estimate, in standard deviations, against the truth."""
    columns: dict[str, list] = {"truth": [], "estimate": [], "group": [], "of": []}
    for name, estimate in estimates.items():
        spread = float(estimate.std()) or 1.0
        columns["truth"] += truth.tolist()
        columns["estimate"] += ((estimate - estimate.mean()) / spread).tolist()
        columns["group"] += [f"group {k + 1}" for k in range(len(truth))]
        columns["of"] += [name] * len(truth)
    note = f"The truth is in {unit}; estimates are in standard deviations, since their units differ."
    return Table("Estimates against the truth", columns, Scatter("truth", "estimate", "group", "of"), note=note)


@dataclass(frozen=True)
class CheckpointSettings:
    """What is to be explained."""

    sentence: str = knob("", why="A sentence with one [MASK]; empty: the loss of eight held-out rows.")
    answer: str = knob("", why="The word whose probability in the gap is to be explained.")


def kept_checkpoints(subject: Subject) -> str:
    """The run has earlier checkpoints."""
    if len(subject.earlier) < 1:
        return "This run has only one checkpoint. Train it for more steps, or save more often (--save-every)."
    return ""


def measure_checkpoints(subject: Subject, settings: CheckpointSettings) -> Finding:
    """The loss of the query at every kept checkpoint, and what the gradient at each says of the way to the next."""
    models: dict[int, Callable[[], LanguageModel]] = {**subject.earlier, subject.step: lambda: subject.model}
    copy = Copy(subject.model)
    query, said, unit = query_of(subject, copy, Settings(settings.sentence, settings.answer))
    steps = sorted(models)
    subject.count(len(steps), "checkpoints")
    path: list[Weights] = [tuple(p.detach().cpu().clone() for p in models[step]().parameters()) for step in steps]
    with torch.no_grad():
        losses = [float(query(weights)) for weights in path]
    falls = [one - other for one, other in pairwise(losses)]
    estimates = [_first_order(query, one, other) for one, other in pairwise(path)]
    names = [f"{one} to {other}" for one, other in pairwise(steps)]
    most = max(range(len(falls)), key=falls.__getitem__)
    curve = {"step": steps, "loss": losses}
    bars = melt("steps", names, "fall", {"true": falls, "gradient times distance": estimates}, "of")
    return Finding(
        f"Between steps {steps[most]} and {steps[most + 1]} {said} fell most, by {falls[most]:.2f} {unit}.",
        (Number("loss at the end", losses[-1], unit, {"at the first checkpoint": losses[0]}),),
        (Table("Loss by checkpoint", curve, Curve("step", "loss"), unit),
         Table("Fall between checkpoints", bars, Bars("steps", "fall", "of"), unit,
               note="A first-order estimate; it can be far off between distant checkpoints.")),
    )  # fmt: skip


def _first_order(query: Query, here: Weights, there: Weights) -> float:
    """By how much the loss falls from here to there as the gradient here says."""
    slopes = gradient(query, here)
    return -sum(float((g * (b - a)).sum()) for g, a, b in zip(slopes, here, there, strict=True))


WHAT_TAUGHT_IT = Instrument(
    name="influence of texts",
    group="Influence",
    question="Which training texts taught the model this, and do estimates agree with retraining without them?",
    source="arXiv:1703.04730; TracIn, arXiv:2002.08484",
    measure=measure,
    rows=("V40",),
    needs=(scores_words, reads_sentences, trains_on_plain_rows),
    settings=Settings(),
)

WHICH_CHECKPOINT = Instrument(
    name="influence of checkpoints",
    group="Influence",
    question="Between which steps of training did the model learn this?",
    source="after TracIn, arXiv:2002.08484",
    measure=measure_checkpoints,
    rows=("V40",),
    needs=(scores_words, reads_sentences, kept_checkpoints),
    settings=CheckpointSettings(),
)
