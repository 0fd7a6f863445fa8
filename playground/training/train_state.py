"""The learner: a model with its optimisers, one step of training, one evaluation, and its state set aside."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Generator, Tensor

from playground import devices
from playground.batch import Batch, Tokens
from playground.errors import UserError
from playground.knob import turn
from playground.models import LanguageModel, make_model, total_loss, with_required_parts
from playground.models.cost import positions, step_flops
from playground.models.dropout import dropping
from playground.objectives import Objective
from playground.objectives.ask.words import AskInBatchContrast
from playground.rng import generator
from playground.slicing import trimmed
from playground.training import accumulation, electra_two_stage
from playground.training.compiled import Compiled
from playground.zoo.entry import Entry
from playground.zoo.recipe import BETAS, Recipe


@dataclass(frozen=True)
class PartialBatch:
    """The example of a step before its generator answers, and the state of its random generator then."""

    objective: Objective
    example: Batch
    rng: Generator
    state: Tensor

    def ended(self) -> Batch:
        """The training example, with the generator's present weights and always the same random state."""
        self.rng.set_state(self.state)
        return self.objective.ended(self.example, self.rng)


@dataclass
class TrainState:
    """What changes during a run, whose other parts are frozen; `each` are the operations per position of a step."""

    entry: Entry
    objective: Objective
    model: LanguageModel
    optimisers: tuple[torch.optim.Optimizer, ...]
    seed: int
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    gradient: accumulation.Gradient = accumulation.SINGLE_PROCESS
    graded: int = 0
    each: float = 0.0

    @classmethod
    def new(
        cls, entry: Entry, words: Sequence[str], seed: int, device: torch.device, examples: Sequence[Batch] = ()
    ) -> "TrainState":
        """A fresh model for the vocabulary `words`, with every part that the questions of `examples` need."""
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
        """All weights; collecting them anew in every step would take a twentieth of a small model's step."""
        return tuple(self.model.parameters())

    def example(self, tokens: Tokens, *path: object) -> Batch:
        """The objective applied to a batch; `path` names the random draw, by default the coming step."""
        rng = generator(self.seed, "corrupt", *(path or (self.step,)), device=self.device.type)
        return self.objective.example(tokens, rng)

    def opened(self, tokens: Tokens, step: int) -> PartialBatch:
        """The part of a step's example that does not depend on the weights of a generator."""
        rng = generator(self.seed, "corrupt", step, device=self.device.type)
        example = self.objective.opened(tokens, rng)
        # computed here, so that the device is waited for once for several steps
        _ = example.selected_positions, example.count, [q.loss_positions.per_row for q in example.questions]
        return PartialBatch(self.objective, example, rng, rng.get_state())

    def learn(
        self, example: Batch, falling: bool = True, share: float | None = None
    ) -> tuple[Batch, Tensor, dict[str, Tensor], float]:
        """One optimiser step: the part of the batch that trained, the total loss, its terms, and the rate's factor.

        Where memory is short in the gradient, nothing has changed yet; in the optimisers, weights may have.
        """
        recipe = self.entry.recipe
        example = electra_two_stage.trained_part(self.entry, self.step, example)
        electra_two_stage.freeze(self.entry, self.step, self.model)
        share = recipe.lr_multiplier(self.step, falling) if share is None else share
        try:
            with accumulation.room_for("gradient"), self.dropping():
                loss, terms = self.gradient(self.model, example, recipe.grad_accum_steps, recipe.precision)
            with accumulation.room_for("optimiser"):
                if recipe.grad_clip:
                    torch.nn.utils.clip_grad_norm_(self.parameters, recipe.grad_clip)
                for optimiser in self.optimisers:
                    for group in optimiser.param_groups:
                        group["lr"] = group["full_rate"] * share
                    optimiser.step()
        finally:
            for parameter in self.parameters:
                parameter.grad = None
        self.step += 1
        electra_two_stage.hand_over(self.entry, self.step, self.model)
        self.graded += sum(len(q.loss_positions.rows) for part in example.with_auxiliary for q in part.questions)
        self.tokens += example.count
        return example, loss, terms, share

    def dropping(self) -> AbstractContextManager[None]:
        """What a step leaves out of its networks, drawn from the seed and the number of the step."""
        shape = self.entry.model
        if not (shape.dropout or shape.weight_drop):
            return nullcontext()
        return dropping(self.model, generator(self.seed, "dropout", self.step, device=self.device.type))

    def operations(self, example: Batch) -> float:
        """Operations of a step on a batch: counted for the first batch, scaled by positions for others."""
        self.each = self.each or step_flops(self.model, example) / max(1, positions(example))
        return self.each * positions(example)

    @property
    def splits(self) -> bool:
        """Whether a batch may be cut into parts: not where its rows are compared, nor where processes share it."""
        stages = (stage for chain in self.objective.chains for stage in chain.stages)
        compares = any(isinstance(stage, AskInBatchContrast) for stage in stages)
        return isinstance(self.gradient, accumulation.SingleProcess | Compiled) and not compares

    def evaluate(self, tokens: Tokens) -> dict[str, float]:
        """The mean held-out loss of every question that trains, in nats, always under the same corruption."""
        return self.measure(tokens)[0]

    @torch.no_grad()
    def measure(self, tokens: Tokens) -> tuple[dict[str, float], dict[str, float]]:
        """The same, and the accuracy of every question whose answers are right or wrong."""
        self.model.eval()
        rng = generator(0, "held out", device=self.device.type)
        example = electra_two_stage.trained_part(self.entry, self.step, self.objective.example(tokens, rng))
        whole = trimmed(example)
        parts = accumulation.in_parts(whole, self.entry.recipe.grad_accum_steps if self.splits else 1)
        shares = accumulation.shares_of(parts, whole)
        losses: list[accumulation.Graded] = []
        right: dict[str, list[Tensor]] = {}
        with accumulation.room_for("evaluation"):
            for part, counts in zip(parts, shares, strict=True):
                answers = self.model(part)
                for answer in answers:
                    if (these := answer.right()) is not None:
                        right.setdefault(answer.target.name, []).append(these)
                losses.append(total_loss(answers, counts, consume=True))
        self.model.train()
        scored = {name: torch.cat(parts).double() for name, parts in right.items()}
        terms = {name: float(value) for name, value in accumulation.summed(losses)[1].items()}
        return terms, {name: float(answers.mean()) for name, answers in scored.items() if len(answers)}

    def turn(self, settings: Mapping[str, Any]) -> None:
        """Turn knobs of the recipe from the next step on; another optimiser would have to begin anew."""
        recipe, now = turn(self.entry.recipe, settings), self.entry.recipe
        fixed = [k for k in ("batch_size", "optimiser", "seq_len") if getattr(recipe, k) != getattr(now, k)]
        if fixed:
            raise UserError(f"{', '.join(fixed)} cannot be changed in a running learner; fork the run instead.")
        devices.check_precision(self.device, recipe.precision)
        self.entry = replace(self.entry, recipe=recipe)
        for optimiser in self.optimisers:
            full = recipe.muon_lr if isinstance(optimiser, torch.optim.Muon) else recipe.lr
            for group in optimiser.param_groups:
                group["full_rate"], group["weight_decay"] = full, recipe.weight_decay

    def sound(self, loss: Tensor) -> bool:
        """Whether the loss and all weights are finite."""
        return math.isfinite(float(loss)) and all(bool(p.isfinite().all()) for p in self.parameters)


@dataclass(frozen=True)
class Snapshot:
    """Everything that a step changes, set aside at `step` so that a learner can return to it bit for bit."""

    step: int
    tokens: int
    graded: int
    seconds: float
    entry: Entry
    weights: dict[str, Tensor]
    optimisers: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, learner: TrainState) -> "Snapshot":
        """A copy that further steps do not change."""
        weights = {name: value.detach().clone() for name, value in learner.model.state_dict().items()}
        optimisers = tuple(deepcopy(optimiser.state_dict()) for optimiser in learner.optimisers)
        return cls(learner.step, learner.tokens, learner.graded, learner.seconds, learner.entry, weights, optimisers)

    def restore(self, learner: TrainState) -> None:
        """Put a learner back to this state."""
        learner.step, learner.tokens, learner.graded = self.step, self.tokens, self.graded
        learner.seconds, learner.entry = self.seconds, self.entry
        learner.model.load_state_dict(self.weights)
        for optimiser, state in zip(learner.optimisers, self.optimisers, strict=True):
            optimiser.state.clear()  # its memory is needed for what takes its place
            optimiser.load_state_dict(deepcopy(state))
            optimiser.zero_grad(set_to_none=True)


def optimisers(model: LanguageModel, recipe: Recipe) -> Iterator[torch.optim.Optimizer]:
    """Muon for the matrices inside the stacks and AdamW for the rest, or AdamW for all."""
    inside = {id(p) for n, p in model.named_parameters() if "blocks" in n and p.dim() == 2}
    matrices = [p for p in model.parameters() if id(p) in inside and recipe.optimiser == "muon"]
    others = [p for p in model.parameters() if not (id(p) in inside and recipe.optimiser == "muon")]
    adam = torch.optim.AdamW(others, lr=recipe.lr, betas=BETAS, weight_decay=recipe.weight_decay, fused=True)
    made: list[torch.optim.Optimizer] = [adam]
    if matrices:
        made.insert(0, torch.optim.Muon(matrices, lr=recipe.muon_lr, weight_decay=recipe.weight_decay, momentum=0.95))
    for optimiser in made:
        for group in optimiser.param_groups:
            group["full_rate"] = group["lr"]
        yield optimiser
