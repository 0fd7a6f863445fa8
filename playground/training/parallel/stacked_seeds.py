"""Several seeds of one run as a stack: every seed has its own loop, and the first in a round computes all gradients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from playground.answers import Answer, Target
from playground.batch import AttentionMask, Batch, LabelIds, Stream, arange_rows, zeros_view
from playground.models import LanguageModel
from playground.models.word_vectors import StaticNetwork
from playground.objectives import Objective
from playground.objectives.arrange import SampleTask
from playground.training.accumulation import BatchLoss, single_process
from playground.training.loop import RunState
from playground.training.parallel.stacked import StackedParameters, widened


def hindrance(state: RunState) -> str:
    """Why a run cannot be stacked with its other seeds; empty where it can."""
    run, batch = state.run, state.blocks.at(state.learner.step)
    recipe, targets = run.entry.recipe, batch.targets
    if state.learner.gradient is not single_process:
        return "several processes share its batches"
    if recipe.grad_accum_steps > 1 or recipe.precision != "float32":
        return "its batches come in parts or in half precision"
    if run.sizes_every:
        return "its gradients are measured layer by layer"
    if run.entry.objective.proposes or batch.auxiliary or len(state.phases) > 1:
        return "a second network, a second batch or a second phase takes part"
    if isinstance(state.learner.model.network, StaticNetwork):
        return "static vectors have no layers to stack"
    if run.entry.model.recurrent:
        return "its layers are recurrent"
    if run.entry.model.dropout:
        return "each seed has its own dropout in a step"
    if any(_asks_by_lot(chain) for chain in run.entry.objective.chains):
        return "each seed draws its own part of a mixture, and the parts ask for different things"
    if any(q.at_query or q.reads is not None or not q.kind.plain for q in targets):
        return "its targets are not single tokens at each position"
    return "each seed has a memory of its own" if run.entry.model.mem_len else ""


def _asks_by_lot(objective: Objective) -> bool:
    """Whether a draw for each batch, with another outcome for each seed, decides what is asked."""
    drawn = any(isinstance(s, SampleTask) and not (s.alternating or s.by_row) for s in objective.stages)
    return drawn and len({part.target_names for part in objective.parts}) > 1


@dataclass
class Shared:
    """The gradient of one seed: from the stack while all are at the same step, else by itself."""

    stack: "SeedStack"
    number: int

    def __call__(self, model: LanguageModel, batch: Batch, accumulate: int, precision: str) -> BatchLoss:
        loss = self.stack.loss_of(self.number)
        if loss is None:
            return single_process(model, batch, accumulate, precision)
        for name, parameter in model.named_parameters():
            whole = self.stack.rows.parts[name].grad
            parameter.grad = None if whole is None else whole[self.number]
        return loss


class SeedStack:
    """The models of several seeds with a model axis in front; `ready` are losses of step `at` not used so far."""

    def __init__(self, states: Sequence[RunState]) -> None:
        self.states = list(states)
        self.ready: dict[int, BatchLoss] = {}
        self.at = -1
        models = [state.learner.model for state in states]
        self.model = models[0]
        self.rows = StackedParameters.of(models, [name for name, _ in models[0].named_parameters()])
        for number, state in enumerate(states):
            state.learner.gradient = Shared(self, number)

    def loss_of(self, number: int) -> BatchLoss | None:
        """The losses of a seed in its coming step; None where the others are at another step."""
        steps = [state.learner.step for state in self.states]
        if self.at != steps[number] and len(set(steps)) == 1:
            self.at, self.ready = steps[number], self.gradients()
        return self.ready.pop(number, None) if self.at == steps[number] else None

    def gradients(self) -> dict[int, BatchLoss]:
        """The losses of all seeds in the coming step, whose gradients are left in the rows."""
        for part in self.rows.parts.values():
            part.grad = None
        batches = [state.blocks.at(state.learner.step) for state in self.states]
        numbers = range(len(batches[0].targets))
        labels = [StackedTarget.of([batch.targets[number] for batch in batches]) for number in numbers]
        whole = Scores(self.model, [(t.target.stream, t.target.kind.head) for t in labels])
        inputs = [(stacked(batches, "inputs"), stacked(batches, "decoder")), [(t.rows, t.positions) for t in labels]]

        def one(parts: dict[str, Tensor], *inputs: Any) -> list[Tensor]:
            return functional_call(whole, {f"model.{name}": part for name, part in parts.items()}, inputs)

        with sdpa_kernel(SDPBackend.MATH):  # the only kernel that vmap supports
            scores = vmap(one)(self.rows.parts, *inputs)
        terms = {t.target.name: t.means(own) for t, own in zip(labels, scores, strict=True)}
        totals = torch.stack([t.target.weight * terms[t.target.name] for t in labels]).sum(0)
        totals.sum().backward()
        each = {name: means.detach() for name, means in terms.items()}
        terms_of = ({name: means[k] for name, means in each.items()} for k in range(len(totals)))
        return {k: BatchLoss(*own) for k, own in enumerate(zip(totals.detach(), terms_of, strict=True))}


class Scores(nn.Module):
    """A model's scores for several targets, each given by its stream and its head."""

    def __init__(self, model: LanguageModel, targets: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.model, self.targets = model, targets

    def forward(
        self, streams: tuple[dict[str, Tensor], dict[str, Tensor]], positions: Sequence[tuple[Tensor, Tensor]]
    ) -> list[Tensor]:
        """Scores `[m, v]` for every target at its positions, given as rows and columns."""
        network, table = self.model.network, self.model.token_embedding.weight
        inputs, states = stream_of(streams[0]), dict[str, Tensor]()
        if any(stream == "inputs" for stream, _ in self.targets):
            states["inputs"] = network(inputs, table)
        if streams[1]:
            states["decoder"] = network.decode(stream_of(streams[1]), inputs, table)
        return [
            self.model.score(states[stream][at], head, network)
            for (stream, head), at in zip(self.targets, positions, strict=True)
        ]


@dataclass(frozen=True)
class StackedTarget:
    """One target of all seeds: the scored positions `[k, m]`, the targets there, what each counts (padding: 0).

    `totals` `[k]` are the numbers of positions that the losses are means over.
    """

    target: Target
    rows: Tensor
    positions: Tensor
    labels: Tensor
    weights: Tensor
    totals: Tensor

    @classmethod
    def of(cls, targets: Sequence[Target]) -> "StackedTarget":
        scored = [q.loss_mask.nonzero(as_tuple=True) for q in targets]
        labels = widened([q.labels[at] for q, at in zip(targets, scored, strict=True)])
        rows, positions = (widened([at[axis] for at in scored]) for axis in (0, 1))
        counts = [torch.ones_like(q.labels, dtype=torch.float) if (w := q.loss_weights) is None else w for q in targets]
        weights = widened([each[at] for each, at in zip(counts, scored, strict=True)])
        totals = torch.tensor([max(1, q.total) for q in targets], device=labels.device)
        return cls(targets[0], rows, positions, labels, weights, totals)

    def means(self, scores: Tensor) -> Tensor:
        """The mean loss of each seed `[k]`; 0 where nothing is scored."""
        at = self.rows.flatten(), self.positions.flatten()
        answer = Answer(self.target, *at, scores.flatten(0, 1), self.labels.flatten())
        losses = answer.losses(consume=True).unflatten(0, self.weights.shape)
        return (losses * self.weights).sum(1) / self.totals


FIELDS = ("ids", "position_ids", "segment_ids", "language_ids", "second_position_ids")
"""The fields of a stream that a model reads, beside its masks; the last is optional."""

LABEL = "label: "
"""Stands before the name of a label that a model reads."""


def stacked(batches: Sequence[Batch], name: str) -> dict[str, Tensor]:
    """The fields and masks of one stream of all seeds with a model axis in front; empty where there is none."""
    streams = [getattr(batch, name) for batch in batches]
    if streams[0] is None:
        return {}
    masks = ("attn_mask",) if streams[0].cross_attn_mask is None else ("attn_mask", "cross_attn_mask")
    dense = {mask: widened([getattr(stream, mask).dense() for stream in streams]) for mask in masks}
    read = [field for field in FIELDS if getattr(streams[0], field) is not None]
    fields = {field: widened([getattr(stream, field) for stream in streams]) for field in read}
    fields |= {
        f"{LABEL}{label}": widened([stream.label_ids[label].ids for stream in streams])
        for label in streams[0].label_ids
    }
    return fields | {mask: cells.expand(-1, len(streams[0].ids), -1, -1) for mask, cells in dense.items()}


def stream_of(tensors: Mapping[str, Tensor]) -> Stream:
    """The stream of one seed from its fields and masks."""
    ids, cross = tensors["ids"], tensors.get("cross_attn_mask")
    fields: dict[str, Any] = {field: tensors[field] for field in FIELDS if field in tensors}
    labels = {name.removeprefix(LABEL): LabelIds(ids, ()) for name, ids in tensors.items() if name.startswith(LABEL)}
    return Stream(
        origin=arange_rows(ids),
        valid=zeros_view(ids, torch.bool),
        attn_mask=_mask(tensors["attn_mask"]),
        cross_attn_mask=None if cross is None else _mask(cross),
        label_ids=labels,
        **fields,
    )


def _mask(cells: Tensor) -> AttentionMask:
    rows, queries, keys = cells.shape
    level = torch.zeros((), dtype=torch.long, device=cells.device)
    return AttentionMask(level.expand(rows, queries), level.expand(rows, keys), overrides=cells)
