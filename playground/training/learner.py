"""The learner: a model with its optimisers, one step of training, one evaluation."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from playground.example import Example, Tokens
from playground.models import LanguageModel, fitted, grade, make_model
from playground.objectives import Objective
from playground.rows import trimmed
from playground.seeds import generator
from playground.training import generator_first
from playground.zoo.entry import Entry
from playground.zoo.recipe import Recipe


@dataclass
class Learner:
    """What changes while a run goes on; everything else about the run is frozen."""

    entry: Entry
    objective: Objective
    model: LanguageModel
    optimisers: tuple[torch.optim.Optimizer, ...]
    seed: int
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @classmethod
    def new(
        cls,
        entry: Entry,
        words: Sequence[str],
        seed: int,
        device: torch.device,
        examples: Sequence[Example] = (),
    ) -> "Learner":
        """A fresh model for a vocabulary spelt `words`; the same seed gives the same weights.

        The model gets every part that the questions of the objective's `examples` need.
        """
        if examples:
            entry = replace(entry, model=fitted(entry.model, *examples))
        generator_first.check(entry)
        model = make_model(entry.model, len(words), generator(seed, "weights"), words).to(device)
        objective = entry.objective.proposing(model.propose) if entry.objective.proposes else entry.objective
        return cls(entry, objective, model, tuple(optimisers(model, entry.recipe)), seed)

    @property
    def device(self) -> torch.device:
        return self.model.table.weight.device

    def example(self, tokens: Tokens, *path: object) -> Example:
        """The objective applied to a batch; `path` names the draw, by default the coming step."""
        rng = generator(self.seed, "corrupt", *(path or (self.step,)), device=self.device.type)
        return self.objective.example(tokens, rng)

    def learn(self, example: Example, falling: bool = True) -> tuple[Example, Tensor, dict[str, Tensor], float]:
        """One optimiser step on one batch: what trained of it, the total loss, its terms, the share of the rate."""
        recipe = self.entry.recipe
        example = generator_first.trained_part(self.entry, self.step, example)
        generator_first.freeze(self.entry, self.step, self.model)
        loss, terms = grade(self.model.answers(example))
        loss.backward()
        if recipe.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
        share = recipe.share_at(self.step, falling)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = group["full_rate"] * share
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.step += 1
        generator_first.hand_over(self.entry, self.step, self.model)
        tokens = example.tokens
        self.tokens += tokens.ids.numel() if not tokens.padded else int(tokens.lengths.sum())
        return example, loss.detach(), {k: v.detach() for k, v in terms.items()}, share

    @torch.no_grad()
    def evaluate(self, tokens: Tokens) -> dict[str, float]:
        """The mean loss of every question that trains, on held-out text, the same corruption every time, in nats."""
        self.model.eval()
        rng = generator(0, "held out", device=self.device.type)
        example = generator_first.trained_part(self.entry, self.step, self.objective.example(tokens, rng))
        _, terms = grade(self.model.answers(trimmed(example)))
        self.model.train()
        return {name: float(value) for name, value in terms.items()}

    def sound(self, loss: Tensor) -> bool:
        """Whether the loss and all weights are still numbers."""
        return math.isfinite(float(loss)) and all(bool(p.isfinite().all()) for p in self.model.parameters())


def optimisers(model: LanguageModel, recipe: Recipe) -> Iterator[torch.optim.Optimizer]:
    """Muon for the matrices inside the stacks and AdamW for the rest, or AdamW for all."""
    inside = {id(p) for n, p in model.named_parameters() if "blocks" in n and p.dim() == 2}
    matrices = [p for p in model.parameters() if id(p) in inside and recipe.optimiser == "muon"]
    others = [p for p in model.parameters() if not (id(p) in inside and recipe.optimiser == "muon")]
    if matrices:
        muon = torch.optim.Muon(matrices, lr=recipe.matrix_rate, weight_decay=recipe.decay, momentum=0.95)
        yield _remember(muon)
    adam = torch.optim.AdamW(others, lr=recipe.rate, betas=(0.9, 0.98), weight_decay=recipe.decay, fused=True)
    yield _remember(adam)


def _remember(optimiser: torch.optim.Optimizer) -> torch.optim.Optimizer:
    for group in optimiser.param_groups:
        group["full_rate"] = group["lr"]
    return optimiser
