"""Several seeds of one run as a stack: every seed's own loop goes on as ever, but their gradients are computed at once.

The loops take a step each in turn. Whoever comes first in a round has the gradients of all computed, for the batch of
every seed follows from its seed and the step alone; the others find theirs ready.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from playground.batch import AttentionMask, Batch, Stream, Target, arange_rows, zeros_view
from playground.models import LanguageModel
from playground.models.losses import Answer
from playground.models.word_vectors import StaticNetwork
from playground.training.accumulation import SINGLE_PROCESS, Graded
from playground.training.loop import RunState
from playground.training.parallel.stacked import Rows, widened


def hindrance(course: RunState) -> str:
    """Why a run cannot be stacked with its other seeds; nothing where it can."""
    run, example = course.run, course.blocks.at(course.learner.step)
    recipe, questions = run.entry.recipe, example.questions
    if run.compiled:
        return "each is compiled by itself"
    if course.learner.gradient is not SINGLE_PROCESS:
        return "several processes share its batches"
    if recipe.grad_accum_steps > 1 or recipe.precision != "float32":
        return "its batches come in parts or in half precision"
    if run.sizes_every:
        return "its gradients are measured layer by layer"
    if run.entry.objective.proposes or example.auxiliary:
        return "a second network or a second example takes part"
    if isinstance(course.learner.model.network, StaticNetwork):
        return "static vectors have no layers to stack"
    if any(q.stream == "query" or q.head == "match" or q.reads is not None or q.loss for q in questions):
        return "its question is no plain choice at each position"
    return ""


@dataclass
class Shared:
    """One seed's way to its gradients: from the stack while all are at the same step, else alone."""

    stack: "Stack"
    number: int

    def __call__(self, model: LanguageModel, example: Batch, accumulate: int, precision: str) -> Graded:
        loss = self.stack.loss_of(self.number)
        if loss is None:
            return SINGLE_PROCESS(model, example, accumulate, precision)
        for name, parameter in model.named_parameters():
            whole = self.stack.rows.parts[name].grad
            parameter.grad = None if whole is None else whole[self.number]
        return loss


class Stack:
    """The models of several seeds with a lane axis in front; `ready` are losses of step `at` not fetched so far."""

    def __init__(self, courses: Sequence[RunState]) -> None:
        self.courses = list(courses)
        self.ready: dict[int, Graded] = {}
        self.at = -1
        models = [course.learner.model for course in courses]
        self.model = models[0]
        self.rows = Rows.of(models, [name for name, _ in models[0].named_parameters()])
        for number, course in enumerate(courses):
            course.learner.gradient = Shared(self, number)

    def loss_of(self, number: int) -> Graded | None:
        """The losses of a seed in its coming step; None where the others are elsewhere, so that it must go alone."""
        steps = [course.learner.step for course in self.courses]
        if self.at != steps[number] and len(set(steps)) == 1:
            self.at, self.ready = steps[number], self.gradients()
        return self.ready.pop(number, None) if self.at == steps[number] else None

    def gradients(self) -> dict[int, Graded]:
        """The losses of all seeds in the coming step; their gradients are in the rows."""
        for part in self.rows.parts.values():
            part.grad = None
        examples = [course.blocks.at(course.learner.step) for course in self.courses]
        asked = [Asked.of([example.questions[q] for example in examples]) for q in range(len(examples[0].questions))]
        whole = Scores(self.model, [(a.question.stream, a.question.head) for a in asked])
        read = [(laid(examples, "inputs"), laid(examples, "decoder")), [(a.rows, a.places) for a in asked]]

        def one(parts: dict[str, Tensor], *read: Any) -> list[Tensor]:
            return functional_call(whole, {f"model.{name}": part for name, part in parts.items()}, read)

        with sdpa_kernel(SDPBackend.MATH):  # the others know no lanes
            scores = vmap(one)(self.rows.parts, *read)
        terms = {a.question.name: a.means(some) for a, some in zip(asked, scores, strict=True)}
        totals = torch.stack([a.question.weight * terms[a.question.name] for a in asked]).sum(0)
        totals.sum().backward()
        each = {name: means.detach() for name, means in terms.items()}
        return {k: (total, {name: means[k] for name, means in each.items()}) for k, total in enumerate(totals.detach())}


class Scores(nn.Module):
    """A model's scores at given places for several questions, which name their reader and their head."""

    def __init__(self, model: LanguageModel, asked: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.model, self.asked = model, asked

    def forward(
        self, streams: tuple[dict[str, Tensor], dict[str, Tensor]], places: Sequence[tuple[Tensor, Tensor]]
    ) -> list[Tensor]:
        """Scores `[m, v]` for every question at its places, a row and a column for each."""
        network, table = self.model.network, self.model.token_embedding.weight
        inputs, known = stream_of(streams[0]), dict[str, Tensor]()
        if any(reader == "inputs" for reader, _ in self.asked):
            known["inputs"] = network(inputs, table)
        if streams[1]:
            known["decoder"] = network.decode(stream_of(streams[1]), inputs, table)
        return [
            self.model.score(known[reader][at], head, network)
            for (reader, head), at in zip(self.asked, places, strict=True)
        ]


@dataclass(frozen=True)
class Asked:
    """One question of all seeds: where it is graded `[k, m]`, what is right there, and which of it is there at all."""

    question: Target
    rows: Tensor
    places: Tensor
    targets: Tensor
    there: Tensor

    @classmethod
    def of(cls, questions: Sequence[Target]) -> "Asked":
        """Seeds that grade fewer answers than others get some that do not count."""
        found = [q.loss_mask.nonzero(as_tuple=True) for q in questions]
        targets = [q.targets[at] for q, at in zip(questions, found, strict=True)]
        rows, places = (widened([at[axis] for at in found]) for axis in (0, 1))
        there = widened([torch.ones_like(at[0], dtype=torch.bool) for at in found])
        return cls(questions[0], rows, places, widened(targets), there)

    def means(self, scores: Tensor) -> Tensor:
        """The mean loss of each seed `[k]`; 0 where nothing is graded."""
        answer = Answer(
            self.question, self.rows.flatten(), self.places.flatten(), scores.flatten(0, 1), self.targets.flatten()
        )
        losses = answer.losses(consume=True).unflatten(0, self.there.shape)
        return (losses * self.there).sum(1) / self.there.sum(1).clamp(min=1)


def laid(examples: Sequence[Batch], name: str) -> dict[str, Tensor]:
    """One stream of all seeds by what a model reads of it, with a lane axis in front; nothing where there is none."""
    streams = [getattr(example, name) for example in examples]
    if streams[0] is None:
        return {}
    found = {
        what: widened([getattr(s, what) for s in streams])
        for what in ("ids", "position_ids", "segment_ids", "language_ids")
    }
    masks = {"attn_mask": [s.attn_mask for s in streams]}
    masks["cross_attn_mask"] = [s.cross_attn_mask for s in streams if s.cross_attn_mask is not None]
    rows = len(streams[0].ids)
    return found | {
        name: widened([s.dense() for s in some]).expand(-1, rows, -1, -1) for name, some in masks.items() if some
    }


def stream_of(found: Mapping[str, Tensor]) -> Stream:
    """The stream of one seed, whose masks are painted."""
    return Stream(
        ids=found["ids"],
        origin=arange_rows(found["ids"]),
        valid=zeros_view(found["ids"], torch.bool),
        segment_ids=found["segment_ids"],
        position_ids=found["position_ids"],
        language_ids=found["language_ids"],
        attn_mask=_painted(found["attn_mask"]),
        cross_attn_mask=_painted(found["cross_attn_mask"]) if "cross_attn_mask" in found else None,
    )


def _painted(cells: Tensor) -> AttentionMask:
    rows, readers, read = cells.shape
    level = torch.zeros((), dtype=torch.long, device=cells.device)
    return AttentionMask(level.expand(rows, readers), level.expand(rows, read), overrides=cells)
