"""BERT-of-Theseus: layers of the model are replaced by fewer new ones at random, more and more often."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor, nn

from playground.batch import AttentionMask
from playground.compression.classifier import student_of, unshared_stack
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.methods.layer_dropping import number_kept
from playground.compression.training import ClassifierTraining, fine_tune
from playground.errors import UserError
from playground.knob import knob
from playground.models.positions import PositionEncoding
from playground.models.transformer import Block, SdpaMask, Stack


class MixedStack(nn.Module):
    """A stack in which each group of the predecessor's layers may be replaced by one layer of the successor."""

    def __init__(self, old: Stack, new: list[Block], each: int) -> None:
        super().__init__()
        self.old, self.new, self.each = old, nn.ModuleList(new), each
        self.replaced: list[bool] = [False] * len(new)

    def forward(self, x: Tensor, allowed: AttentionMask, positions: PositionEncoding | None, *_: Any) -> Tensor:
        """The states, with the signature of `Stack.forward`; attention weights and a memory are not asked for."""
        mask = SdpaMask.of(allowed)
        for k, (block, new) in enumerate(zip(self.new, self.replaced, strict=True)):
            layers = [block] if new else self.old.layers[k * self.each : (k + 1) * self.each]
            for depth, layer in enumerate(layers):
                x = layer(x, mask.layer(k if new else k * self.each + depth), positions)
        return self.old.ln_f(x)


@dataclass(frozen=True)
class ReplaceModules:
    """Replace each group of layers with a chance that rises to 1; only the loss of the task trains the new ones."""

    layers: int = knob(0, 0, 12, unit="layers", why="Layers of the successor, a divisor of the model's; 0: half.")
    base_rate: float = knob(0.3, 0.0, 1.0, unit="chance", why="Chance of each replacement in the first step.")
    rise: float = knob(0.7, 0.01, 1.0, unit="share of the steps", why="From then on everything is replaced.")
    steps: int = knob(150, 1, 5000, unit="steps", why="Training with old and new layers mixed.")
    fine_tuning_steps: int = knob(50, 0, 5000, unit="steps", why="Fine-tuning of the successor alone, at the end.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        there, number = number_kept(start.classifier, "Module replacing", self.layers)
        if there % number:
            raise UserError(f"layers is {number}, which does not divide the {there} layers of the model.")
        if len(start.classifier.exits):
            raise UserError("Early exit has a head for each layer; put it after module replacing.")
        each = there // number
        successor = student_of(start.classifier, list(range(number)))  # its first layers, as in the paper
        new = unshared_stack(successor, "Module replacing").layers
        stack = MixedStack(unshared_stack(start.classifier, "Module replacing"), new, each)
        start.classifier.model.network.add_module("encoder", stack)
        curves = {**start.curves, **self._replace(Compressed(start.classifier), stack, data, rng)}
        layers = start.layers_of(tuple(tuple(range(k * each, (k + 1) * each)) for k in range(number)))
        made = replace(start, classifier=successor, layers=layers, zeros=frozenset(), curves=curves)
        return fine_tune(made, data, rng, self.fine_tuning_steps)

    def _replace(self, mixed: Compressed, stack: MixedStack, data: TaskData, rng: Generator) -> dict[str, Any]:
        """Train the new layers in place; which were in use in each step, and the chance of each replacement."""
        training = ClassifierTraining(mixed, data, rng, self.steps)
        learns = dict(stack.new.named_parameters())
        replaced, chances = [self.draw(stack, 0, rng)], [self.chance(0)]
        for step in training.each(learns):
            if step < self.steps:
                replaced.append(self.draw(stack, step, rng))
                chances.append(self.chance(step))
        return {"planks": replaced, "chance": chances, **training.terms}

    def draw(self, stack: MixedStack, step: int, rng: Generator) -> list[bool]:
        """Draw which groups of layers are replaced in a step."""
        stack.replaced = (torch.rand(len(stack.new), generator=rng) < self.chance(step)).tolist()
        return stack.replaced

    def chance(self, step: int) -> float:
        """The chance of a replacement: a line from the base rate to 1 (the paper's curriculum)."""
        return min(1.0, self.base_rate + (1 - self.base_rate) * step / max(1.0, self.rise * self.steps))


THESEUS = Method(
    name="Theseus",
    aliases=("BERT-of-Theseus", "module replacing"),
    family="module replacing",
    rows=("C20", "S104"),
    idea="Layers are replaced by fewer new ones at random, more and more often; only the task's loss is needed.",
    source="Xu et al., arXiv:2002.02925",
    unlike_paper="embeddings and head, too, learn in the steps of the successor alone",
    step=ReplaceModules(),
)
