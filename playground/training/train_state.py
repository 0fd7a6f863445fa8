"""The learner: a model with its optimisers, one step of training, one evaluation, and its state set aside."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from playground import devices
from playground.answers import Answer
from playground.batch import Batch, Tokens
from playground.errors import UserError
from playground.knob import turn
from playground.models import LanguageModel, make_model, total_loss, with_required_parts, with_stretches
from playground.models.cost import positions, step_flops
from playground.models.dropout import dropping
from playground.models.teacher import follow
from playground.objectives import Objective
from playground.objectives.ask.words import AskInBatchContrast
from playground.objectives.bind import at_step, with_generator
from playground.objectives.steps import before_generator, from_generator, specimens
from playground.optimisers import AdamW, Muon
from playground.rng import generator
from playground.slicing import split_rows, trimmed
from playground.training import accumulation, segment_memory
from playground.training.lr_schedule import lr_multiplier_of
from playground.zoo.entry import Entry
from playground.zoo.recipe import BETAS, Recipe


class Measurement(NamedTuple):
    """The held-out loss by target, the accuracy of each whose answers are right or wrong, and gauges by name."""

    terms: dict[str, float]
    accuracy: dict[str, float]
    gauges: dict[str, float]


@dataclass(frozen=True)
class PartialBatch:
    """The batch of a step before its generator answers, and the state of its random generator then."""

    objective: Objective
    batch: Batch
    rng: Generator
    state: Tensor

    def ended(self) -> Batch:
        """The batch, with the generator's present weights and always the same random state."""
        if not self.objective.proposes:
            return self.batch
        self.rng.set_state(self.state)
        return from_generator(self.objective, self.batch, self.rng)


@dataclass
class TrainState:
    """What changes during a run, whose other parts are frozen; `each` are the operations per position of a step.

    `objectives` has one for every phase of the run; `objective` is that of the present one.
    """

    entry: Entry
    objective: Objective
    model: LanguageModel
    optimisers: tuple[torch.optim.Optimizer, ...]
    seed: int
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    gradient: accumulation.Gradient = accumulation.single_process
    scored: int = 0
    each: float = 0.0
    mems: segment_memory.Mems = ()
    objectives: tuple[Objective, ...] = ()

    @classmethod
    def new(
        cls, entry: Entry, words: Sequence[str], seed: int, device: torch.device, batches: Sequence[Batch] = ()
    ) -> "TrainState":
        """A fresh model for the vocabulary `words`, with every part that the targets of `batches` need."""
        if batches:
            entry = replace(entry, model=with_required_parts(entry.model, *batches))
        segment_memory.check(entry, batches)
        for phase in entry.all_phases:
            phase.check(entry.model, entry.objective)
        devices.check_precision(device, entry.recipe.precision)
        model = make_model(entry.model, len(words), generator(seed, "weights"), words).to(device)
        asked = (entry.objective_in(phase) for phase in entry.all_phases)
        objectives = tuple(with_generator(one, model.propose) for one in asked)
        learner = cls(entry, entry.objective, model, (), seed, objectives=objectives)
        learner.enter_phase()
        return learner

    @property
    def phase(self) -> int:
        """The number of the phase that the coming step belongs to."""
        return self.entry.phase_at(self.step)

    def enter_phase(self) -> None:
        """Take the objective of the present phase, and optimisers that know no gradient yet."""
        if self.objectives:
            self.objective = self.objectives[self.phase]
        self.optimisers = tuple(optimisers(self.model, self.entry.recipe))

    @property
    def device(self) -> torch.device:
        return self.model.token_embedding.weight.device

    @cached_property
    def parameters(self) -> tuple[torch.nn.Parameter, ...]:
        """All weights; collecting them anew in every step would take a twentieth of a small model's step."""
        return tuple(self.model.parameters())

    def batch(self, tokens: Tokens, *path: object) -> Batch:
        """The objective applied to a batch; `path` names the random draw, by default the coming step."""
        rng = generator(self.seed, "corrupt", *(path or (self.step,)), device=self.device)
        step = path[-1] if path else self.step
        number = step if isinstance(step, int) else self.step
        return at_step(self.objective, number, self.entry.recipe.steps).batch(tokens, rng)

    def opened(self, tokens: Tokens, step: int) -> PartialBatch:
        """The part of a step's batch that does not depend on the weights of a generator."""
        rng = generator(self.seed, "corrupt", step, device=self.device)
        objective = self.objective
        batch = before_generator(objective, tokens, rng) if objective.proposes else self.batch(tokens, step)
        [batch] = self.with_reading_order([batch])
        # computed here, so that the device is waited for once for several steps
        _ = batch.selected_positions, batch.count
        for part in batch.with_auxiliary:
            _ = [target.loss_positions.per_row for target in part.targets]
            _ = [stream.ends for stream in (part.inputs, part.decoder) if stream is not None and stream.padded]
        return PartialBatch(self.objective, batch, rng, rng.get_state())

    def with_reading_order(self, batches: list[Batch]) -> list[Batch]:
        """The batches of some steps, with the order in which a recurrent network reads them."""
        return with_stretches(batches) if self.model.shape.recurrent else batches

    def learn(
        self, batch: Batch, falling: bool = True, share: float | None = None
    ) -> tuple[Batch, Tensor, dict[str, Tensor], float]:
        """One optimiser step: the part of the batch that trained, the total loss, its terms, and the rate's factor.

        Where memory is short in the gradient, nothing has changed yet; in the optimisers, weights may have.
        """
        recipe, mem_len, number = self.entry.recipe, self.entry.model.mem_len, self.phase
        phase = self.entry.all_phases[number]
        batch = self.remembering(phase.trained_part(batch))
        share = lr_multiplier_of(self.entry, self.step, falling) if share is None else share
        try:
            with accumulation.room_for("gradient"), self.dropping():
                loss, terms, states = self.gradient(self.model, batch, recipe.grad_accum_steps, recipe.precision)
            for parameter in phase.frozen(self.model):
                parameter.grad = None
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
        reuse_len = batch.tokens.reuse_len
        if self.objective.teacher is not None:
            follow(self.model.teacher, self.model.network, self.objective.teacher.decay(self.step + 1, recipe.steps))
        self.mems = segment_memory.extended(batch.inputs.mems, states, mem_len, reuse_len) if mem_len else ()
        self.step += 1
        if self.phase != number:
            self.entry.all_phases[self.phase].begin(self.model)
            self.mems = ()
            self.enter_phase()
        self.scored += sum(len(target.loss_positions.rows) for part in batch.with_auxiliary for target in part.targets)
        self.tokens += batch.count
        return batch, loss, terms, share

    def remembering(self, batch: Batch) -> Batch:
        """The batch with the memory of the step before, where its rows continue those of that step."""
        fits = self.entry.model.mem_len and segment_memory.fits(batch, self.mems)
        return segment_memory.with_mems(batch, self.mems) if fits else batch

    def dropping(self) -> AbstractContextManager[None]:
        """What a step leaves out of its networks, drawn from the seed and the number of the step."""
        shape = self.entry.model
        if not (shape.dropout or shape.weight_drop):
            return nullcontext()
        return dropping(self.model, generator(self.seed, "dropout", self.step, device=self.device))

    def operations(self, batch: Batch) -> float:
        """Operations of a step on a batch: counted for the first batch, scaled by positions for others."""
        self.each = self.each or step_flops(self.model, batch) / max(1, positions(batch))
        return self.each * positions(batch)

    @property
    def splits(self) -> bool:
        """Whether a batch may be cut into parts: not where its rows are compared, nor where processes share it."""
        compares = any(isinstance(stage, AskInBatchContrast) for stage in self.objective.every_stage)
        return self.gradient is accumulation.single_process and not compares

    def evaluate(self, tokens: Tokens) -> dict[str, float]:
        """The mean held-out loss of every target that trains, in nats, always under the same corruption."""
        return self.measure(tokens).terms

    def pretraining_loss(self, tokens: Tokens, each: Callable[[Answer], object] = lambda _: None) -> float:
        """The weighted sum of the held-out losses that train; with a generator (ELECTRA) the network's own alone."""
        weights = dict[str, float]()

        def see(answer: Answer) -> None:
            weights[answer.target.name] = answer.target.weight
            each(answer)

        terms = self.measure(tokens, see).terms
        if self.model.shape.generator_ratio:
            return [*terms.values()][-1]
        return sum(weights[name] * loss for name, loss in terms.items())

    @torch.no_grad()
    def measure(self, tokens: Tokens, each: Callable[[Answer], object] = lambda _: None) -> "Measurement":
        """The same, with accuracies and gauges; `each` is shown all answers."""
        self.model.eval()
        rng, phase = generator(0, "held out", device=self.device), self.entry.all_phases[self.phase]
        losses: dict[str, list[float]] = {}
        right: dict[str, list[Tensor]] = {}
        vectors: list[Answer] = []

        def see(answer: Answer) -> None:
            each(answer)
            if answer.target.kind.gauged:
                vectors.append(answer)
            if (these := answer.right()) is not None:
                right.setdefault(answer.target.name, []).append(these)

        with accumulation.room_for("evaluation"):
            for batch in specimens(self.objective, tokens, rng):  # of a mixture, each of its parts
                for name, value in self._measured(phase.trained_part(batch), see).items():
                    losses.setdefault(name, []).append(value)
        self.model.train()
        scored = {name: torch.cat(parts).double() for name, parts in right.items()}
        terms = {name: fmean(values) for name, values in losses.items()}
        accuracy = {name: float(answers.mean()) for name, answers in scored.items() if len(answers)}
        return Measurement(terms, accuracy, vectors[0].target.kind.gauges(vectors) if vectors else {})

    def _measured(self, batch: Batch, see: Callable[[Answer], None]) -> dict[str, float]:
        """The losses of one held-out batch, whose answers are shown to `see` before their memory is used again."""
        whole, mem_len = trimmed(batch), self.entry.model.mem_len
        if mem_len and (rows := segment_memory.stretches(batch.tokens)):
            parts = split_rows(whole, rows)
        else:
            parts = accumulation.in_parts(whole, self.entry.recipe.grad_accum_steps if self.splits else 1)
        mems: segment_memory.Mems = ()
        losses: list[accumulation.BatchLoss] = []
        for part, counts in zip(parts, accumulation.shares_of(parts, whole), strict=True):
            states: list[Tensor] | None = [] if mem_len else None
            answers = self.model(segment_memory.with_mems(part, mems), states=states)
            mems = segment_memory.extended(mems, states, mem_len, part.tokens.reuse_len) if states else ()
            for answer in answers:
                see(answer)
            losses.append(accumulation.BatchLoss(*total_loss(answers, counts, consume=True)))
        return {name: float(value) for name, value in accumulation.summed(losses)[1].items()}

    def turn(self, settings: Mapping[str, Any]) -> None:
        """Turn knobs of the recipe from the next step on; another optimiser would have to begin anew."""
        recipe, now = turn(self.entry.recipe, settings), self.entry.recipe
        other = ("batch_size", "optimiser", "seq_len", "decay_norms")
        fixed = [k for k in other if getattr(recipe, k) != getattr(now, k)]
        if fixed:
            raise UserError(f"{', '.join(fixed)} cannot be changed in a running learner; fork the run instead.")
        devices.check_precision(self.device, recipe.precision)
        number, self.entry = self.phase, replace(self.entry, recipe=recipe)
        if self.phase != number:  # with more or fewer steps a phase begins elsewhere
            self.enter_phase()
        if self.objective.changes:  # so does a stretch of a curriculum: what was drawn for later steps is drawn again
            self.objective = replace(self.objective)
        for optimiser in self.optimisers:
            full = recipe.muon_lr if isinstance(optimiser, Muon) else recipe.lr
            for group in optimiser.param_groups:
                group["full_rate"], group["weight_decay"] = full, recipe.weight_decay * group["decays"]
                group.update({"betas": (BETAS[0], recipe.adam_beta2)} if "betas" in group else {})

    def sound(self, loss: Tensor | None = None) -> bool:
        """Whether the loss, where there is one, and all weights are finite."""
        values = self.parameters if loss is None else (loss, *self.parameters)
        return bool(torch.stack([value.isfinite().all() for value in values]).all())


@dataclass(frozen=True)
class Snapshot:
    """Everything that a step changes, set aside at `step` so that a learner can return to it bit for bit."""

    step: int
    tokens: int
    scored: int
    seconds: float
    entry: Entry
    weights: dict[str, Tensor]
    optimisers: tuple[dict[str, Any], ...]
    mems: segment_memory.Mems

    @classmethod
    def of(cls, learner: TrainState) -> "Snapshot":
        """A copy that further steps do not change."""
        weights = {name: value.detach().clone() for name, value in learner.model.state_dict().items()}
        optimisers = tuple(deepcopy(optimiser.state_dict()) for optimiser in learner.optimisers)
        counts = learner.step, learner.tokens, learner.scored, learner.seconds
        return cls(*counts, learner.entry, weights, optimisers, learner.mems)

    def restore(self, learner: TrainState) -> None:
        """Put a learner back to this state."""
        number = learner.phase
        learner.step, learner.tokens, learner.scored = self.step, self.tokens, self.scored
        learner.seconds, learner.entry, learner.mems = self.seconds, self.entry, self.mems
        if learner.phase != number:
            learner.enter_phase()
        learner.model.load_state_dict(self.weights)
        for optimiser, state in zip(learner.optimisers, self.optimisers, strict=True):
            optimiser.state.clear()  # its memory is needed for what takes its place
            optimiser.load_state_dict(deepcopy(state))
            optimiser.zero_grad(set_to_none=True)


NORM_OR_BIAS = re.compile(r"bias|\bln(_|\b)")
"""The names of what has no weight decay in BERT's released code: norms and biases."""


def optimisers(model: LanguageModel, recipe: Recipe) -> Iterator[torch.optim.Optimizer]:
    """Muon for the matrices inside the stacks and the character CNN, AdamW for the rest; or AdamW for all."""
    muon = [n for n, p in model.named_parameters() if p.dim() == 2 and recipe.optimiser == "muon"]
    inside = {name for name in muon if re.search(r"blocks|characters\.(?!letter)", name)}
    apart = {name for name in model.state_dict() if NORM_OR_BIAS.search(name) and not recipe.decay_norms} - inside
    matrices, others = _group(model, inside), _group(model, model.state_dict().keys() - inside - apart)
    others += [group | {"decays": False} for group in _group(model, apart)]
    made: list[torch.optim.Optimizer] = [AdamW(others, lr=recipe.lr, betas=(BETAS[0], recipe.adam_beta2), fused=True)]
    if matrices:
        made.insert(0, Muon(matrices, lr=recipe.muon_lr, momentum=0.95))
    for optimiser in made:
        for group in optimiser.param_groups:
            group["full_rate"], group["weight_decay"] = group["lr"], recipe.weight_decay * group["decays"]
        yield optimiser


def _group(model: LanguageModel, names: Collection[str]) -> list[dict[str, Any]]:
    """Some parameters as a group of an optimiser; none where there are none."""
    own = [p for name, p in model.named_parameters() if name in names]
    return [{"params": own, "decays": True}] if own else []
