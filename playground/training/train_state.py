"""The learner: a model with its optimisers, one step of training, one evaluation."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Generator, Tensor

from playground import devices
from playground.batch import Batch, Tokens
from playground.errors import Refusal
from playground.knob import turn
from playground.models import LanguageModel, make_model, total_loss, with_required_parts
from playground.models.cost import positions, step_flops
from playground.objectives import Objective
from playground.objectives.ask.match import AskInBatchContrast
from playground.rng import generator
from playground.slicing import trimmed
from playground.training import electra_two_stage
from playground.training.accumulation import (
    SINGLE_PROCESS,
    Graded,
    Gradient,
    SingleProcess,
    clipped,
    in_parts,
    room_for,
    shares_of,
    summed,
)
from playground.training.compiled import Compiled
from playground.zoo.entry import Entry
from playground.zoo.recipe import BETAS, Recipe


@dataclass(frozen=True)
class PartialBatch:
    """The example of a step before its generator answers, and the source of chance as it is then."""

    objective: Objective
    example: Batch
    rng: Generator
    state: Tensor

    def ended(self) -> Batch:
        """The training example; asked again, it is answered with the weights of that moment and the same chance."""
        self.rng.set_state(self.state)
        return self.objective.ended(self.example, self.rng)


@dataclass
class TrainState:
    """What changes while a run goes on; everything else about the run is frozen.

    `each` are the operations that a position costs in a step, 0 until somebody asks.
    """

    entry: Entry
    objective: Objective
    model: LanguageModel
    optimisers: tuple[torch.optim.Optimizer, ...]
    seed: int
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    gradient: Gradient = SINGLE_PROCESS
    graded: int = 0
    each: float = 0.0

    @classmethod
    def new(
        cls,
        entry: Entry,
        words: Sequence[str],
        seed: int,
        device: torch.device,
        examples: Sequence[Batch] = (),
    ) -> "TrainState":
        """A fresh model for a vocabulary spelt `words`; the same seed gives the same weights.

        The model gets every part that the questions of the objective's `examples` need.
        """
        if examples:
            entry = replace(entry, model=with_required_parts(entry.model, *examples))
        electra_two_stage.check(entry)
        devices.check_precision(device, entry.recipe.precision)
        model = make_model(entry.model, len(words), generator(seed, "weights"), words).to(device)
        objective = entry.objective.proposing(model.propose) if entry.objective.proposes else entry.objective
        return cls(entry, objective, model, tuple(optimisers(model, entry.recipe)), seed)

    @property
    def device(self) -> torch.device:
        return self.model.token_embedding.weight.device

    @cached_property
    def parameters(self) -> tuple[torch.nn.Parameter, ...]:
        """All weights; to look for them in every module in every step would be a twentieth of a small model's step."""
        return tuple(self.model.parameters())

    def example(self, tokens: Tokens, *path: object) -> Batch:
        """The objective applied to a batch; `path` names the draw, by default the coming step."""
        rng = generator(self.seed, "corrupt", *(path or (self.step,)), device=self.device.type)
        return self.objective.example(tokens, rng)

    def opened(self, tokens: Tokens, step: int) -> PartialBatch:
        """What of the batch of a step does not depend on a generator's weights, and all that must be asked of it."""
        rng = generator(self.seed, "corrupt", step, device=self.device.type)
        example = self.objective.opened(tokens, rng)
        _ = example.selected_positions, example.count, [q.loss_positions.per_row for q in example.questions]
        return PartialBatch(self.objective, example, rng, rng.get_state())

    def learn(
        self, example: Batch, falling: bool = True, share: float | None = None
    ) -> tuple[Batch, Tensor, dict[str, Tensor], float]:
        """One optimiser step on one batch: what trained of it, the total loss, its terms, the share of the rate.

        The schedule says which share of the full rate is used, unless a `share` is given. Where the memory does not
        reach for the gradient, nothing has changed yet; where it does not reach for the optimisers, weights may have.
        """
        recipe = self.entry.recipe
        example = electra_two_stage.trained_part(self.entry, self.step, example)
        electra_two_stage.freeze(self.entry, self.step, self.model)
        share = recipe.lr_multiplier(self.step, falling) if share is None else share
        try:
            with room_for("gradient"):
                loss, terms = self.gradient(self.model, example, recipe.grad_accum_steps, recipe.precision)
            with room_for("optimiser"):
                self._move(share)
        finally:
            for parameter in self.parameters:
                parameter.grad = None
        self.step += 1
        electra_two_stage.hand_over(self.entry, self.step, self.model)
        self.graded += sum(len(q.loss_positions.rows) for part in example.with_auxiliary for q in part.questions)
        self.tokens += example.count
        return example, loss, terms, share

    def _move(self, share: float) -> None:
        """One step of every optimiser with a share of its rate."""
        clipped(self.parameters, self.entry.recipe.grad_clip)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = group["full_rate"] * share
            optimiser.step()

    def operations(self, example: Batch) -> float:
        """Operations of a step on a batch: those of the first batch were counted, others follow by their positions."""
        self.each = self.each or step_flops(self.model, example) / max(1, positions(example))
        return self.each * positions(example)

    @property
    def splits(self) -> bool:
        """Whether a batch may be cut into parts: not where its rows are compared, nor where processes share it."""
        compares = any(
            isinstance(stage, AskInBatchContrast) for chain in self.objective.chains for stage in chain.stages
        )
        return isinstance(self.gradient, SingleProcess | Compiled) and not compares

    def evaluate(self, tokens: Tokens) -> dict[str, float]:
        """The mean loss of every question that trains, on held-out text, the same corruption every time, in nats."""
        return self.measure(tokens)[0]

    @torch.no_grad()
    def measure(self, tokens: Tokens) -> tuple[dict[str, float], dict[str, float]]:
        """The same, and the share of right answers of every question whose answers are right or wrong."""
        self.model.eval()
        rng = generator(0, "held out", device=self.device.type)
        example = electra_two_stage.trained_part(self.entry, self.step, self.objective.example(tokens, rng))
        whole = trimmed(example)
        parts = in_parts(whole, self.entry.recipe.grad_accum_steps if self.splits else 1)
        shares = shares_of(parts, whole)
        found: list[Graded] = []
        right: dict[str, list[Tensor]] = {}
        with room_for("evaluation"):
            for part, counts in zip(parts, shares, strict=True):
                answers = self.model(part)
                for answer in answers:
                    if (these := answer.right()) is not None:
                        right.setdefault(answer.target.name, []).append(these)
                found.append(total_loss(answers, counts, consume=True))
        self.model.train()
        told = {name: torch.cat(some).double() for name, some in right.items()}
        terms = {name: float(value) for name, value in summed(found)[1].items()}
        return terms, {name: float(some.mean()) for name, some in told.items() if len(some)}

    def turn(self, settings: Mapping[str, Any]) -> None:
        """Turn knobs of the recipe from the next step on; another optimiser would have to begin anew."""
        recipe = turn(self.entry.recipe, settings)
        fixed = {"batch_size", "seq_len", "optimiser"} & {k for k in settings if getattr(recipe, k) != self._now(k)}
        if fixed:
            raise Refusal(f"{', '.join(sorted(fixed))} cannot be changed in a running learner; fork the run instead.")
        devices.check_precision(self.device, recipe.precision)
        self.entry = replace(self.entry, recipe=recipe)
        for optimiser in self.optimisers:
            full = recipe.muon_lr if isinstance(optimiser, torch.optim.Muon) else recipe.lr
            for group in optimiser.param_groups:
                group["full_rate"], group["weight_decay"] = full, recipe.weight_decay

    def _now(self, knob: str) -> Any:
        return getattr(self.entry.recipe, knob)

    def sound(self, loss: Tensor) -> bool:
        """Whether the loss and all weights are still numbers."""
        return math.isfinite(float(loss)) and all(bool(p.isfinite().all()) for p in self.parameters)


def optimisers(model: LanguageModel, recipe: Recipe) -> Iterator[torch.optim.Optimizer]:
    """Muon for the matrices inside the stacks and AdamW for the rest, or AdamW for all."""
    inside = {id(p) for n, p in model.named_parameters() if "blocks" in n and p.dim() == 2}
    matrices = [p for p in model.parameters() if id(p) in inside and recipe.optimiser == "muon"]
    others = [p for p in model.parameters() if not (id(p) in inside and recipe.optimiser == "muon")]
    if matrices:
        muon = torch.optim.Muon(matrices, lr=recipe.muon_lr, weight_decay=recipe.weight_decay, momentum=0.95)
        yield _remember(muon)
    adam = torch.optim.AdamW(others, lr=recipe.lr, betas=BETAS, weight_decay=recipe.weight_decay, fused=True)
    yield _remember(adam)


def _remember(optimiser: torch.optim.Optimizer) -> torch.optim.Optimizer:
    for group in optimiser.param_groups:
        group["full_rate"] = group["lr"]
    return optimiser
