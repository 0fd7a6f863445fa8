"""Exact zeros in matrices: which they are, and how they are made by torch.nn.utils.prune."""

from collections.abc import Iterable

from torch import nn
from torch.nn.utils import prune

from playground.compression.classifier import Classifier


def owner(module: nn.Module, name: str) -> tuple[nn.Module, str]:
    """The submodule that holds a parameter or another module, and the name that it has there."""
    path, _, attribute = name.rpartition(".")
    return module.get_submodule(path), attribute


def zero_smallest(classifier: Classifier, names: Iterable[str], sparsity: float, together: bool) -> None:
    """Set that share of the weights with the smallest size to 0, over all matrices `together` or in each."""
    parameters = [owner(classifier, name) for name in names]
    if together:
        prune.global_unstructured(parameters, prune.L1Unstructured, amount=sparsity)
    for module, attribute in parameters:
        if not together:
            prune.l1_unstructured(module, attribute, amount=sparsity)
        prune.remove(module, attribute)


def gradual(sparsity: float, step: int, steps: int) -> float:
    """The sparsity after a step: a cubic rise from 0 to its end (Zhu and Gupta, arXiv:1710.01878, eq. 1)."""
    return sparsity * (1 - (1 - min(1.0, step / max(1, steps))) ** 3)
