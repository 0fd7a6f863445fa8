"""Mixed precision by curvature: layers whose loss is curved most keep more bits."""

from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, stdev
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from playground.compression.classifier import Classifier, matrices
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.quantization import FULL, groups_of, on_grids
from playground.finetuning.data.dataset import Dataset
from playground.knob import knob


@dataclass(frozen=True)
class QuantiseByCurvature:
    """Give the flatter half of the layers few bits and the others more."""

    low: int = knob(2, 1, FULL, unit="bits", why="Bits of the layers where the loss is flat.")
    high: int = knob(4, 1, FULL, unit="bits", why="Bits of the other layers.")
    embedding_bits: int = knob(8, 1, FULL, unit="bits", why="Bits of the embedding tables.")
    groups: int = knob(4, 1, 128, unit="groups of rows", why="Each has a scale.")
    parts: int = knob(4, 2, 16, unit="parts of the texts", why="The curvature is measured on each.")
    turns: int = knob(12, 1, 100, unit="turns", why="Iterations of the power method that finds the largest curvature.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        layers = by_layer(start.classifier)
        spread = {layer: self.sensitivity(start.classifier, names, data.train, rng)
                  for layer, names in layers.items()}  # fmt: skip
        ranked = sorted(spread, key=lambda layer: spread[layer])
        flat = {name for layer in ranked[: len(ranked) // 2] for name in layers[layer]}
        inside = {name for names in layers.values() for name in names}
        bits = {
            n: self.embedding_bits if n not in inside else self.low if n in flat else self.high
            for n in matrices(start.classifier)
        }
        made = on_grids(start, bits, groups_of(start.classifier, "group", self.groups))
        chosen = {layer: bits[names[0]] for layer, names in layers.items()}
        return replace(made, curves={**made.curves, "curvature": spread, "bits": chosen})

    def sensitivity(self, classifier: Classifier, names: list[str], texts: Dataset, rng: Generator) -> float:
        """Mean plus standard deviation of the largest curvature over parts of the texts (Q-BERT)."""
        split = torch.arange(len(texts.labels)).tensor_split(min(self.parts, len(texts.labels)))
        each = [top_eigenvalue(classifier, names, texts.pick(index), rng, self.turns) for index in split]
        return abs(fmean(each)) + (stdev(each) if len(each) > 1 else 0.0)


def by_layer(classifier: Classifier) -> dict[str, list[str]]:
    """The matrices inside the network by the layer that they belong to."""
    layers: dict[str, list[str]] = {}
    for name in matrices(classifier, embeddings=False):
        _, _, rest = name.partition(".blocks.")
        part = "attention" if ".attn." in name else "MLP"
        layers.setdefault(f"layer {int(rest.split('.')[0]) + 1} {part}" if rest else "other", []).append(name)
    return layers


def top_eigenvalue(classifier: Classifier, names: list[str], texts: Dataset, rng: Generator, turns: int) -> float:
    """The largest eigenvalue of the Hessian of the loss by some matrices, by power iteration (HAWQ)."""
    weights = [classifier.get_parameter(name) for name in names]
    gradient = partial(
        torch.autograd.grad, inputs=weights, allow_unused=True, materialize_grads=True
    )  # of a decoder: 0
    with sdpa_kernel(SDPBackend.MATH):  # the other kernels have no second derivative
        loss = texts.answer.loss(classifier(texts), texts.labels)
        slope = gradient(loss, create_graph=True)
        vector, value = _normed([torch.randn(w.shape, generator=rng) for w in weights]), 0.0
        for _ in range(turns):
            along = torch.stack([(g * v).sum() for g, v in zip(slope, vector, strict=True)]).sum()
            turned = gradient(along, retain_graph=True)
            value = float(sum((t * v).sum() for t, v in zip(turned, vector, strict=True)))
            vector = _normed(turned)
    return value


def _normed(parts: Any) -> list[Tensor]:
    length = torch.stack([(part**2).sum() for part in parts]).sum().sqrt().clamp(min=1e-12)
    return [part.detach() / length for part in parts]


MIXED_PRECISION = Method(
    name="mixed precision",
    aliases=("Q-BERT", "HAWQ", "Hessian-based mixed precision"),
    family="quantization",
    rows=("C07",),
    idea="Round the layers where the loss is flat to few bits, and those where it is curved to more.",
    source="Shen et al. (Q-BERT), arXiv:1909.05840; Dong et al. (HAWQ), arXiv:1905.03696",
    unlike_paper="attention and MLP of a layer are ranked separately; "
    "curvature on the labelled texts; no training after",
    step=QuantiseByCurvature(),
    identity="low=32, high=32, embedding_bits=32",
)
