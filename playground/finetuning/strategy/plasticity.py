"""Plasticity plans: from the layer groups, lowest first and the task's head last, to multipliers `[g, s]`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.errors import UserError
from playground.knob import knob

Plasticity = Callable[[Sequence[str], int], Tensor]
"""From the layer groups, lowest first and the task's head last, and the number of steps, to multipliers `[g, s]`."""

APART = (" biases", " norms")
"""How the name of a row ends that holds the biases or the norms of a layer apart."""


def layer_of(row: str) -> str:
    """The layer group of a row, which may hold a part of it alone."""
    return row.removesuffix(APART[0]).removesuffix(APART[1])


def layer_numbers(groups: Sequence[str]) -> Tensor:
    """The number of each row's layer from the bottom up, `[g]`; what stands apart belongs to its layer."""
    layers = list(map(layer_of, groups))
    numbers = {layer: number for number, layer in enumerate(dict.fromkeys(layers))}
    return torch.tensor([numbers[layer] for layer in layers])


def head_only(groups: Sequence[str], steps: int) -> Tensor:
    """Only the task's head learns."""
    plan = torch.zeros(len(groups), steps)
    plan[-1] = 1.0
    return plan


def nothing(groups: Sequence[str], steps: int) -> Tensor:
    """Nothing learns."""
    return torch.zeros(len(groups), steps)


def everything(groups: Sequence[str], steps: int) -> Tensor:
    """Everything learns from the first step on."""
    return torch.ones(len(groups), steps)


def above_embeddings(groups: Sequence[str], steps: int) -> Tensor:
    """Everything but the embeddings learns."""
    plan = torch.ones(len(groups), steps)
    plan[[k for k, group in enumerate(groups) if group.startswith("embeddings")]] = 0.0
    return plan


def top_layer(groups: Sequence[str], steps: int) -> Tensor:
    """The highest layer and the head learn."""
    layers = [k for k, group in enumerate(groups) if "layer" in group]
    number = layer_numbers(groups)
    return (number >= number[layers[-1] if layers else -1]).float()[:, None].repeat(1, steps)


def one_at_a_time(groups: Sequence[str], steps: int) -> Tensor:
    """The head learns first, then each group alone from the lowest up, then all, each time with a new optimiser."""
    number = layer_numbers(groups)
    last = number[-1] + 1
    phase = torch.arange(steps) * (last + 1) // max(1, steps)
    turn = (number + 1) % last
    return ((turn[:, None] == phase) | (phase == last)).float()


def three_stages(groups: Sequence[str], steps: int) -> Tensor:
    """The head learns first, then all but the embeddings, then all."""
    stage = torch.arange(steps) * 3 // max(1, steps)
    begins = torch.tensor([2 if group.startswith("embeddings") else 1 for group in groups])
    begins[-1] = 0
    return (begins[:, None] <= stage).float()


def decoder_first(groups: Sequence[str], steps: int) -> Tensor:
    """What writes learns first, the decoder and the head, then all."""
    plan = torch.ones(len(groups), steps)
    early = [k for k, group in enumerate(groups[:-1]) if not group.startswith("decoder")]
    plan[early, : steps // 2] = 0.0
    return plan


def apart_only(groups: Sequence[str], steps: int) -> Tensor:
    """Only what has rows of its own and the task's head learn."""
    learns = [group.endswith(APART) for group in groups]
    learns[-1] = True
    return torch.tensor(learns).float()[:, None].repeat(1, steps)


@dataclass(frozen=True)
class ProbeFirst:
    """The head learns alone first, then everything (arXiv:2202.10054, sec. 3)."""

    probe_share: float = knob(0.5, 0.01, 0.99, unit="share of the steps", why="So long the head learns alone.")

    def __call__(self, groups: Sequence[str], steps: int) -> Tensor:
        plan = torch.ones(len(groups), steps)
        plan[:-1, : round(self.probe_share * steps)] = 0.0
        return plan


@dataclass(frozen=True)
class FromTheTop:
    """One more group thaws in every phase, the head first and the lowest group last (arXiv:1801.06146, sec. 3.3)."""

    share: float = knob(1.0, 0.01, 1.0, unit="share of the steps", why="After that everything is trained.")

    def __call__(self, groups: Sequence[str], steps: int) -> Tensor:
        number = layer_numbers(groups)
        phase = torch.arange(steps) * (number[-1] + 1) // max(1, round(self.share * steps))
        height = number[-1] - number
        return (height[:, None] <= phase[None, :]).float()


@dataclass(frozen=True)
class Discriminative:
    """Every layer learns some times slower than the one above it (arXiv:1801.06146, sec. 3.2)."""

    factor: float = knob(2.6, 1.0, 10.0, unit="times", why="1 is one rate for all; more protects the lower layers.")

    def __call__(self, groups: Sequence[str], steps: int) -> Tensor:
        number = layer_numbers(groups)
        return (self.factor ** (number - number[-1]).float())[:, None].repeat(1, steps)


@dataclass(frozen=True)
class Constant:
    """All rates are some times the strategy's rate."""

    multiplier: float

    def __call__(self, groups: Sequence[str], steps: int) -> Tensor:
        return torch.full((len(groups), steps), self.multiplier)


@dataclass(frozen=True)
class LayerDecay:
    """Every layer learns at a fixed share of the rate of the one above it (ELECTRA, arXiv:2003.10555, released code).

    The head stands two shares above the highest layer, as there; what stands apart has the rate of its layer.
    """

    layer_decay: float = knob(0.8, 0.1, 1.0, unit="times", why="1 is one rate for all; less protects the lower layers.")

    def __call__(self, groups: Sequence[str], steps: int) -> Tensor:
        owners = list(map(layer_of, groups[:-1]))
        layers = list(dict.fromkeys(owners))
        height = torch.tensor([*(len(layers) + 1 - layers.index(owner) for owner in owners), 0])
        return (self.layer_decay ** height.float())[:, None].repeat(1, steps)


@dataclass(frozen=True)
class SlantedTriangle:
    """The rate rises fast and falls slowly (arXiv:1801.06146, sec. 3.2, eq. 3)."""

    cut_frac: float = knob(0.1, 0.01, 0.99, unit="share of the steps", why="Where the rate is at its highest.")
    ratio: float = knob(32.0, 1.0, 1000.0, unit="times", why="How much lower the lowest rate is than the highest.")

    def __call__(self, groups: Sequence[str], steps: int) -> Tensor:
        cut = max(1, int(steps * self.cut_frac))
        step = torch.arange(steps, dtype=torch.float32)
        share = torch.where(step < cut, step / cut, 1 - (step - cut) / (cut * (1 / self.cut_frac - 1)))
        line = (1 + share.clamp(0, 1) * (self.ratio - 1)) / self.ratio
        return line.expand(len(groups), -1).clone()


@dataclass(frozen=True)
class Product:
    """Several plans at once: their multipliers are multiplied."""

    parts: tuple[Plasticity, ...]

    def __call__(self, groups: Sequence[str], steps: int) -> Tensor:
        return torch.stack([part(groups, steps) for part in self.parts]).prod(dim=0)


@dataclass(frozen=True)
class PaintedCell:
    """A piece of a plan painted by hand: one group from the first to the last step (counted from 1, both included)."""

    group: str
    first: int
    last: int
    multiplier: float


def paint(plan: Tensor, groups: Sequence[str], cells: Sequence[PaintedCell]) -> Tensor:
    """The plan with some cells replaced; later ones lie on top of earlier ones."""
    plan = plan.clone()
    for cell in cells:
        if cell.group not in groups:
            raise UserError(f"There is no layer group {cell.group!r}; choose one of: {', '.join(groups)}.")
        if not 1 <= cell.first <= cell.last <= plan.shape[1]:
            raise UserError(f"The cell goes from step {cell.first} to {cell.last}; steps are 1 to {plan.shape[1]}.")
        if not 0.0 <= cell.multiplier <= 1000.0:
            raise UserError(f"The multiplier is {cell.multiplier}; it must lie between 0 (frozen) and 1000.")
        plan[list(groups).index(cell.group), cell.first - 1 : cell.last] = cell.multiplier
    return plan


def restarts(plasticity: Plasticity, plan: Tensor) -> list[bool]:
    """In which steps of a plan `[g, s]` the optimiser starts again: with each phase of chain-thaw, as in its code."""
    if one_at_a_time not in factors(plasticity):
        return [False] * plan.shape[1]
    learns = plan != 0
    return [False, *(learns[:, 1:] != learns[:, :-1]).any(dim=0).tolist()]


def factors(plan: Plasticity) -> tuple[Plasticity, ...]:
    """The factors of a plan, without those that change nothing."""
    parts = plan.parts if isinstance(plan, Product) else (plan,)
    return tuple(part for part in parts if part is not everything)


def product(plans: Sequence[Plasticity]) -> Plasticity:
    """Several plans as one; a factor that comes twice counts once."""
    parts = tuple(dict.fromkeys(part for plan in plans for part in factors(plan)))
    return parts[0] if len(parts) == 1 else Product(parts) if parts else everything


def describe(plan: Plasticity) -> str:
    """What a plan does, in words: the docstrings of its factors."""
    return " and ".join(map(_describe, factors(plan) or (everything,)))


def _describe(part: Plasticity) -> str:
    kind = part if hasattr(part, "__name__") else type(part)
    text = (kind.__doc__ or "A plan of its own.").split(" (")[0].rstrip(".")
    text = text[0].lower() + text[1:]
    numbers = ", ".join(f"{name} {value:g}" for name, value in vars(part).items()) if kind is not part else ""
    return f"{text} ({numbers})" if numbers else text
