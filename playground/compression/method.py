"""A compression method: what it does to a fine-tuned model, its knobs, and where it comes from."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Generator

from playground.batch import Tokens
from playground.compression.classifier import Classifier
from playground.compression.grids import Grid
from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.input_format import format_for
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.find import split_outside_brackets
from playground.method import CatalogMethod
from playground.rng import derive

FAMILIES = {
    "pruning": "weights, heads, neurons or layers are removed",
    "low rank and sharing": "matrices become products of thin ones, or layers share weights",
    "distillation": "a small student learns from the answers and hidden states of the model",
    "module replacing": "layers of the model are replaced by fewer new ones during training",
    "early exit": "easy texts leave the model before its last layer",
    "quantization": "weights have fewer bits",
    "baseline": "a small model that is trained without the large one",
}
"""The families of methods in the order of a survey (arXiv:2003.08271), each with what its members do."""


@dataclass(frozen=True)
class TaskData:
    """What a method may read: the base, the task, the labelled texts of one seed, and further texts without labels."""

    base: Base
    task: Task
    train: Dataset
    test: Dataset
    seed: int
    steps: int = 80
    batch_size: int = 16

    def unlabelled(self, number: int) -> Dataset:
        """Further texts of the task, none of them for testing; their labels are never read."""
        words, number = self.base.words, min(number, self.task.examples or number)
        form = format_for(self.base.learner.model.shape, None)
        return self.base.remember(
            ("unlabelled", self.task.name, number, self.seed),
            lambda: self.task.load(words, number, derive(self.seed, "unlabelled") % 2**31, "train", form),
        )

    @cached_property
    def pretraining(self) -> Tokens:
        """Pre-training text of the base that is never measured."""
        return self.base.rehearse()


@dataclass(frozen=True, eq=False)
class Compressed:
    """A classifier, and what a file must know of it.

    `grids` are the matrices with few bits, `zeros` the names of those whose exact zeros stay zeros in later training,
    `sparse` says whether a file leaves these zeros out. `layers` are the teacher's layers, from 1, that each layer of
    the student stands for. `curves` are numbers that a method recorded.
    """

    classifier: Classifier
    grids: Mapping[str, Grid] = field(default_factory=dict)
    zeros: frozenset[str] = frozenset()
    sparse: bool = False
    layers: tuple[tuple[int, ...], ...] = ()
    methods: tuple[str, ...] = ()
    curves: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def whole(cls, classifier: Classifier) -> "Compressed":
        """The model as it is, each layer for itself."""
        return cls(classifier, layers=tuple((k + 1,) for k in range(classifier.model.shape.layers)))

    def copy(self) -> "Compressed":
        """The same with a classifier of its own."""
        return replace(self, classifier=deepcopy(self.classifier))

    def with_layers(self, classifier: Classifier, chosen: tuple[tuple[int, ...], ...]) -> "Compressed":
        """The same with another classifier whose layers stand for these layers, from 0, of the present one."""
        renamed = {f"encoder.blocks.{group[-1]}.": f"encoder.blocks.{k}." for k, group in enumerate(chosen)}
        names = set[str]()
        for name in self.zeros:
            old = next((part for part in renamed if part in name), "")
            names.add(name.replace(old, renamed[old]) if old else name)
        known = dict(classifier.named_parameters())
        kept = replace(self, classifier=classifier, zeros=frozenset(names & set(known)))
        return replace(kept, layers=self.layers_of(chosen))

    def layers_of(self, chosen: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        """The teacher's layers that groups of present layers, from 0, stand for; none where they stand for none."""
        return tuple(tuple(t for k in group for t in self.layers[k]) for group in chosen) if self.layers else ()


class PipelineStep(Protocol):
    """What a method does; its fields are its knobs."""

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        """A smaller model; `start` may be changed, for it is a copy."""
        ...


@dataclass(frozen=True, kw_only=True)
class Method(CatalogMethod):
    """A method of the catalogue; `rows` are its rows in the inventory.

    With `from_base` it starts from the pre-trained base, not from the fine-tuned model. At the settings of `identity`,
    as they are typed, it changes nothing; empty where it always makes another model.
    """

    package = "playground.compression.methods"
    kind = "compression method"

    family: str
    step: PipelineStep
    rows: tuple[str, ...] = ()
    from_base: bool = False
    identity: str = ""

    @property
    def order(self) -> tuple[int, ...]:
        """Its position in lists: by family, then by the year of its source."""
        return (list(FAMILIES).index(self.family), *super().order)


methods, find_method = Method.all, Method.find


@dataclass(frozen=True)
class Pipeline:
    """Methods that follow each other, as in "DistilBERT + int8"; none leaves the model as it is."""

    methods: tuple[Method, ...] = ()

    def __post_init__(self) -> None:
        grid = next((m for m in self.methods if m.family == "quantization"), None)
        later = self.methods[self.methods.index(grid) + 1 :] if grid else ()
        if grid and later:
            raise UserError(
                f"{grid.name} comes before {later[0].name}, which would change the rounded weights; quantization comes "
                "last."
            )
        late = next((m for m in self.methods[1:] if m.family == "baseline" or m.from_base), None)
        if late:
            raise UserError(f"{late.name} does not start from the model of the method before it; put it first.")

    @property
    def name(self) -> str:
        return " + ".join(map(str, self.methods)) or UNCOMPRESSED

    @property
    def baseline(self) -> bool:
        """Whether it begins with a small model of its own."""
        return bool(self.methods) and self.methods[0].family == "baseline"

    def apply(self, teacher: Classifier, data: TaskData) -> Compressed:
        """The compressed model; the teacher stays as it is."""
        now = Compressed.whole(teacher).copy()
        for position, method in enumerate(self.methods):
            rng = torch.Generator().manual_seed(derive(data.seed, "compress", position, method.name))
            made = method.step.apply(now, data, rng)
            now = replace(made, methods=(*now.methods, str(method)))
        return now


UNCOMPRESSED = "uncompressed"


def read_pipeline(line: str) -> Pipeline:
    """Methods with commas or plus signs between them, such as "DistilBERT, int8"; "uncompressed" alone is none."""
    parts = [part for some in split_outside_brackets(line, ",") for part in split_outside_brackets(some, r"\+")]
    if [part.lower() for part in parts] == [UNCOMPRESSED]:
        return Pipeline()
    if not all(parts):
        raise UserError(f"A method is missing in {line!r}; write it like DistilBERT, int8.")
    return Pipeline(tuple(map(find_method, parts)))
