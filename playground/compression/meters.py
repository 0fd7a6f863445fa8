"""The three meters: what a compressed model weighs, computes and takes; and what it keeps of the answers."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict
from warnings import catch_warnings

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from playground.compression.classifier import Classifier, matrices, uncertainty
from playground.compression.method import Compressed
from playground.compression.storage import save
from playground.finetuning.data.dataset import Dataset
from playground.models.cost import OperationCounter
from playground.tokenizing import Tokenizer

COUNTED, BATCHES, ROUNDS = 64, (1, 32), 41
"""Texts whose operations are counted, sizes of a batch that is timed, and how often each is."""

MOST_FLIPPED, SHOWN_EXITS = 40, 12
"""Flipped answers that are kept, and texts at most whose exits are shown, evenly from sure to unsure."""

SPEEDS = tuple(k / 20 for k in range(21))
"""The speeds of early exit that can be tried on a finished model."""


@dataclass(frozen=True)
class WeightMatrix:
    """A matrix of the network as a file holds it: its shape, its share of exact zeros, and the bits of a weight."""

    name: str
    shape: tuple[int, ...]
    sparsity: float
    bits: int


@dataclass(frozen=True)
class Size:
    """Parameters as torch counts them, those that are not 0, bytes of the file, and bytes of weights while it runs."""

    parameters: int
    nonzero: int
    file: int
    memory: int
    matrices: tuple[WeightMatrix, ...]


class Latency(TypedDict):
    """How long one batch takes, over many rounds."""

    median: float
    """Seconds, the median of all rounds."""

    low: float
    """The lower quartile, in seconds."""

    high: float
    """The upper quartile, in seconds."""

    share: float
    """The seconds as a share of the uncompressed model's in the same round, the median."""

    share_low: float
    """The lower quartile of the share."""

    share_high: float
    """The upper quartile of the share."""


def size(compressed: Compressed, written: Path | None = None) -> Size:
    """What a model weighs; its file is written for it, unless it lies there already."""
    classifier = compressed.classifier
    if written is None:
        with TemporaryDirectory() as folder:
            weight = save(folder, compressed).stat().st_size
    else:
        weight = written.stat().st_size
    every = [*classifier.parameters()]
    rows = tuple(
        WeightMatrix(
            name.removeprefix("model."), tuple(p.shape), float((p == 0).double().mean()),
            compressed.grids[name].bits if name in compressed.grids else 32,
        )
        for name, p in matrices(classifier).items()
    )  # fmt: skip
    held = [*every, *classifier.buffers()]
    return Size(
        sum(p.numel() for p in every), sum(int((p != 0).sum()) for p in every), weight,
        sum(p.numel() * p.element_size() for p in held), rows,
    )  # fmt: skip


@torch.no_grad()
def operations(classifier: Classifier, texts: Dataset) -> float:
    """Operations of all matrix products per text, the mean over some texts; masked cells count too."""
    some, recurrent = texts.pick(torch.arange(min(COUNTED, len(texts.labels)))), classifier.model.shape.recurrent
    plain, math = torch.backends.mkldnn.flags(enabled=not recurrent), sdpa_kernel(SDPBackend.MATH)  # for the counter
    with catch_warnings(action="ignore"), plain, math, OperationCounter() as counter:
        classifier(some)
    return counter.total / len(some.labels)


@torch.no_grad()
def latencies(classifiers: Mapping[str, Classifier], texts: Dataset) -> dict[str, dict[int, Latency]]:
    """Seconds of a batch of each size, in one run and each round in another order, so that all share what else is done.

    Each model has just read the batch once, so that none pays for what the one before it left in the caches.
    """
    names = list(classifiers)
    taken: dict[str, dict[int, list[float]]] = {name: {batch: [] for batch in BATCHES} for name in names}
    rng = torch.Generator().manual_seed(0)
    for turn in range(ROUNDS):
        for batch in BATCHES:
            some = texts.pick((torch.arange(batch) + turn * batch) % len(texts.labels))
            for k in torch.randperm(len(names), generator=rng).tolist():
                classifiers[names[k]](some)
                began = time.perf_counter()
                classifiers[names[k]](some)
                taken[names[k]][batch].append(time.perf_counter() - began)
    return {name: {b: _latency(some, taken[names[0]][b]) for b, some in each.items()} for name, each in taken.items()}


def _latency(seconds: Sequence[float], first: Sequence[float]) -> Latency:
    shares = [own / other for own, other in zip(seconds, first, strict=True)]
    (median, low, high), (share, share_low, share_high) = _quarters(seconds), _quarters(shares)
    return Latency(median=median, low=low, high=high, share=share, share_low=share_low, share_high=share_high)


def _quarters(values: Sequence[float]) -> tuple[float, float, float]:
    """The median, and the quarter of the values below and above."""
    middle = torch.tensor(values, dtype=torch.double).quantile(torch.tensor([0.5, 0.25, 0.75], dtype=torch.double))
    return tuple(middle.tolist())


def depth(classifier: Classifier, texts: Dataset) -> float:
    """The mean number of layers that a text takes."""
    with torch.no_grad():
        return float(classifier.depths(texts).double().mean())


class ExitText(TypedDict):
    """A text, its right class, and at each head, the lowest first, how unsure that is and what it answers."""

    text: str
    right: str
    uncertainty: list[float]
    """The entropy of the answer as a share of the largest."""

    answers: list[str]


class SpeedCurve(TypedDict):
    """Accuracy, layers and operations at each speed at which texts may leave early; `speed` is that of the model."""

    speed: float
    speeds: list[float]
    accuracy: list[float]
    layers_used: list[float]
    """The mean number of layers that a text takes."""

    operations: list[float]
    """The mean number of operations for each text."""

    texts: list[ExitText]


@torch.no_grad()
def speed_curve(classifier: Classifier, texts: Dataset, tokenizer: Tokenizer) -> SpeedCurve:
    """What each speed would cost and keep, from one reading in which every head answers every text (FastBERT)."""
    scores = torch.stack(classifier.exit_scores(texts))  # [l, n, c]
    unsure, guesses = uncertainty(scores), scores.argmax(-1)  # [l, n]
    speeds, answer, names = sorted({*SPEEDS, classifier.speed}), texts.answer, texts.answer.classes
    accuracy, layers = list[float](), list[float]()
    for speed in speeds:
        leaves = unsure < speed
        leaves[-1] = True
        depth = leaves.int().argmax(0)  # the first head that a text leaves at
        accuracy.append(answer.measure(scores[depth, torch.arange(len(depth))], texts.labels)["accuracy"])
        layers.append(float((depth + 1).double().mean()))
    least, most = (operations(classifier.at_speed(speed), texts) for speed in (2.0, 0.0))
    each = (most - least) / (len(scores) - 1)  # of a layer and its head
    first = unsure[0].sort(stable=True)
    levels = torch.linspace(float(first.values[0]), float(first.values[-1]), SHOWN_EXITS)
    shown = first.indices[(first.values[:, None] - levels).abs().argmin(0).unique()].tolist()
    right = answer.right(texts.labels)
    return {
        "speed": classifier.speed, "speeds": speeds, "accuracy": accuracy, "layers_used": layers,
        "operations": [least + (used - 1) * each for used in layers],
        "texts": [
            {"text": _text(texts, k, tokenizer), "right": names[int(right[k])], "uncertainty": unsure[:, k].tolist(),
             "answers": [names[guess] for guess in guesses[:, k].tolist()]}
            for k in shown
        ],
    }  # fmt: skip


@dataclass(frozen=True)
class Flip:
    """A text whose answer is another one after compression: the right answer, the one before, and the one after."""

    text: str
    right: str
    before: str
    after: str


def answers(scores: Tensor, texts: Dataset) -> Tensor:
    """The class of each text, `[n]`; empty where an answer is no class of a text."""
    if not texts.answer.classes:
        return torch.zeros(0, dtype=torch.long)
    return texts.answer.pairs(scores, texts.labels)[0].argmax(1)


def flips(before: Tensor, after: Tensor, texts: Dataset, tokenizer: Tokenizer) -> tuple[int, tuple[Flip, ...]]:
    """How many answers changed, and the first of them in words."""
    if not len(before):
        return 0, ()
    changed, names = (before != after).nonzero()[:, 0].tolist(), texts.answer.classes
    right = texts.answer.right(texts.labels)

    def flip(k: int) -> Flip:
        return Flip(_text(texts, k, tokenizer), names[int(right[k])], names[int(before[k])], names[int(after[k])])

    return len(changed), tuple(map(flip, changed[:MOST_FLIPPED]))


def _text(texts: Dataset, number: int, tokenizer: Tokenizer) -> str:
    """One of the texts in words."""
    row = number * texts.rows_each
    return tokenizer.join(texts.tokens.ids[row][texts.tokens.valid[row]].tolist())


def density(weight: Tensor) -> list[list[float]]:
    """The share of weights that are not 0 in each cell of a matrix, at most 16 cells each way."""
    rows, columns = (torch.arange(n).tensor_split(min(16, n)) for n in weight.shape)
    there = (weight.detach() != 0).double()
    return [[float(there[r][:, c].mean()) for c in columns] for r in rows]
