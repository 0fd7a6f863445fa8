"""What the fullest step of a strategy holds in memory, measured while it is taken: nothing of it is an estimate."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from playground.finetuning.run.trainer import Finetuner
from playground.models.model import LanguageModel

PER_WEIGHT = 3
"""Numbers beside each weight that learns: its gradient and AdamW's two running means."""


@dataclass(frozen=True)
class Held:
    """Bytes that are held: weights, what learning keeps beside them, and values kept for the way back."""

    weights: int
    learning: int
    activations: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.learning + self.activations


def held(run: Finetuner) -> Held:
    """What the step in which most weights learn holds; it is taken, so nothing else should be learnt from the run."""
    sizes = torch.tensor([_bytes(some) for some in run.groups.values()])
    learns = run.plan != 0
    kept: dict[int, torch.UntypedStorage] = {}  # held until all are counted, so that no address is used again

    def keep(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        kept[storage.data_ptr()] = storage
        return value

    with saved_tensors_hooks(keep, lambda value: value):
        run.learn(int((sizes[:, None] * learns).sum(dim=0).argmax()))
    weights = {p.untyped_storage().data_ptr() for p in (*run.model.parameters(), *run.head.parameters())}
    return Held(
        int(sizes.sum()),
        PER_WEIGHT * int(sizes[learns.any(dim=1)].sum()),
        sum(storage.nbytes() for place, storage in kept.items() if place not in weights),
    )


def held_at_rest(model: LanguageModel) -> Held:
    """What a model holds that is only asked: its weights."""
    return Held(_bytes(model.parameters()), 0, 0)


def _bytes(parameters: Iterable[Tensor]) -> int:
    return sum(p.numel() * p.element_size() for p in parameters)
