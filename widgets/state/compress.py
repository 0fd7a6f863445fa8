"""The state of the Compress page: the pipelines that are chosen or being put together, the run, and its result."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import param
from torch import Tensor

from playground.compression import find_method, methods, read_pipeline
from playground.compression.classifier import kept_heads
from playground.compression.compare import Compression, CompressionFacts, CompressionSpec, Outcome, compress
from playground.compression.distillation.students import MAPPINGS, layer_mapping
from playground.compression.meters import density
from playground.compression.method import UNCOMPRESSED
from playground.compression.methods.layer_dropping import student_layers
from playground.compression.report import FILES
from playground.compression.storage import FILE, load
from playground.corpora import Corpus
from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.finetuning import find_task, tasks
from playground.finetuning.run.base import replace_model
from playground.knob import Knob
from playground.models import Architecture
from playground.training import Session
from playground.training.parallel.workers import spare
from playground.training.train_state import TrainState
from widgets.state.job import Job, as_trouble
from widgets.state.quota import ALONE
from widgets.state.stage.model import StageModel, Versions
from widgets.state.transfer.store import base_of_session

SHOWN_FIRST = ("DistilBERT", "layer sharing", "int8", "small from scratch")
"""What a visit begins with: smaller and faster, smaller alone, fewer bits, and the honest baseline."""

VARIANTS = (
    "DistilBERT + int8", "pruning(sparsity=0.9, stored=sparse)", "quantization(bits=8)", "quantization(bits=3)",
    "quantization(bits=2)", "quantization(bits=1)", "Q8BERT(bits=2)",
)  # fmt: skip
"""Pipelines that can be chosen without putting one together, beside every method with its own settings."""

TASKS = [name for name, task in tasks().items() if task.answer.about != "written"]
"""The tasks whose answers a head gives; models that write are not compressed here."""


class CompressStore(param.Parameterized):
    """What is compressed how, how far that is, and what came of it.

    `draft` is the pipeline that is being put together, `method` the one that could follow in it with its knobs
    `turned`. `shown` is the pipeline whose details are open, of early exit at a `speed`.
    """

    task = param.Selector(default="sentiment", objects=TASKS, label="fine-tune on")
    chosen = param.List([], doc="The pipelines that are compared, as lines.")
    own = param.List([], doc="The pipelines that were put together on this visit.")
    method = param.Selector(default="DistilBERT", objects=list(methods()), label="method")
    turned = param.Dict({}, doc="The knobs of the method that are not as in the catalogue.")
    draft = param.String("", label="pipeline")
    labels = param.Integer(64, label="labelled texts")
    seeds = param.Integer(CompressionSpec.seeds, bounds=(1, 12), label="seeds")
    steps = param.Integer(80, bounds=(1, 300), label="steps of the uncompressed model")
    workers = param.Integer(1, label="execution")
    shown = param.Selector(default="", objects=[""], label="details of")
    speed = param.Number(0.5, bounds=(0.0, 1.0), step=0.05, label="speed (share of the entropy)")
    trouble = param.String("", doc="Why nothing can be compressed.")

    def __init__(self, **values: Any) -> None:
        super().__init__(**{"chosen": list(SHOWN_FIRST), **values})
        self.running, self.quota = Job("compression"), ALONE
        self._events: list[Compression] = []
        self.base_name = self.corpus_name = ""
        self._begun: tuple[TrainState, Corpus] | None = None
        self.show_both: Callable[[], None] = lambda: None
        self._folder: TemporaryDirectory[str] | None = None

    # putting a pipeline together

    @property
    def knobs(self) -> dict[str, Knob]:
        """The knobs of the method that could follow."""
        return {k.name: k for k in methods()[self.method].knobs}

    @param.depends("method", watch=True)
    def _other_method(self) -> None:
        self.turned = {}

    @as_trouble
    def append(self) -> None:
        """Put the method with its knobs behind the draft."""
        step = str(find_method(self.method).turn(self.turned))
        self.draft = read_pipeline(f"{self.draft}, {step}" if self.draft.strip() else step).name

    @as_trouble
    def take(self) -> None:
        """Put the draft among the pipelines that are compared."""
        if not self.draft.strip():
            raise UserError("The pipeline is empty; add a method to it, or write one like DistilBERT, int8.")
        name = read_pipeline(self.draft).name
        self.own = list(dict.fromkeys([*self.own, name]))
        self.param.update(chosen=list(dict.fromkeys([*self.chosen, name])), draft="")

    @property
    def power(self) -> str:
        """What the seeds can find, in words."""
        return CompressionSpec(pipelines=tuple(self.chosen), seeds=self.seeds).power

    def turn(self, name: str, value: Any) -> None:
        """Turn a knob of the method; a mapping by hand is for as many layers as there were."""
        gone = name == "layers" and self.turned.get("mapping") not in MAPPINGS
        known = {k: v for k, v in self.turned.items() if not (gone and k == "mapping")}
        self.turned = known | {name: value}

    def mapping(self, there: int) -> list[int]:
        """Which of the teacher's `there` layers, from 0, each layer of the student would follow."""
        layers, mapping = (self.turned.get(name, self.knobs[name].default) for name in ("layers", "mapping"))
        return layer_mapping(there, student_layers(there, layers), mapping)

    @as_trouble
    def map_layer(self, there: int, layer: int, follows: int) -> None:
        """Have a layer of the student, from 0, follow another one of the teacher's."""
        mapping = self.mapping(there)
        if mapping[layer] != follows:
            mapping[layer] = follows
            self.turn("mapping", " ".join(str(t + 1) for t in mapping))

    # running

    @as_trouble
    def begin(self, session: Session | None) -> None:
        """Start compressing the model of a session."""
        base, tokenizer = base_of_session(session)
        assert session is not None
        task, count = find_task(self.task), 1 if self.quota.shared else min(self.workers, spare(0))
        spec = CompressionSpec("base", task.name, tuple(self.chosen), self.seeds, 0, self.labels, self.steps, count)
        spec.check()
        self.end()
        folder, total = TemporaryDirectory(), len(spec.chosen) * spec.seeds
        events: list[Compression] = []
        self._events, self._folder = events, folder
        self.corpus_name, self._begun = session.run.corpus.name, (base.learner, session.run.corpus)
        self.base_name = f"{session.run.entry.title} on {self.corpus_name}, step {base.learner.step}"

        def work(report: Progress) -> Compression:
            with ExitStack() as stopped:
                stopped.callback(folder.cleanup)
                report(0, total)
                for event in compress(base, tokenizer, spec, task=task, folder=Path(folder.name)):
                    report(event.done, total)  # which ends here where the run was stopped
                    events[:] = [event]
                stopped.pop_all()  # the files are read as long as the result is shown
            return event

        self.running.begin(work)

    def end(self) -> None:
        """Stop what runs, which removes its files itself, or remove the files of the last result."""
        if self.result is not None and self._folder is not None:
            self._folder.cleanup()
        self.running.end()

    # the result

    @property
    def result(self) -> Compression | None:
        """The finished compression; none while another one runs."""
        return None if self.running.busy else self.running.result

    @property
    def so_far(self) -> Compression | None:
        """What is known of the run that goes on, was stopped or is finished; none before its first trial."""
        return self.result or (self._events[0] if self._events else None)

    def facts(self) -> CompressionFacts:
        """The facts of the result, with where it began."""
        if self.result is None:
            raise UserError("There is no finished compression yet; press Compress and wait for the end.")
        return self.result.facts(self.base_name, self.corpus_name)

    def file(self, name: str) -> bytes:
        """A file of the result: the table, everything as JSON, or the model whose details are open."""
        facts = self.facts()
        assert self.result is not None
        if name == FILE:
            return (Path(self._first().folder) / FILE).read_bytes()
        return FILES[name](self.result, facts)

    def details(self) -> tuple[Outcome, dict[str, list[list[float]]]]:
        """The first seed of the pipeline that is shown, and how dense its matrices are, cell by cell."""
        outcome = self._first()
        assert self.result is not None
        classifier = load(outcome.folder, self.result.task).classifier
        cells = {m.name: density(classifier.get_parameter(f"model.{m.name}")) for m in outcome.size.matrices}
        return outcome, cells

    def versions(self) -> tuple[Versions, str]:
        """The uncompressed model and that of the pipeline that is shown, for the Stage page, and a text to read.

        The text is the first listed one of which the answer changed, else the base's own.
        """
        outcome, result = self._first(), self.result
        assert result is not None
        assert self._begun is not None
        whole = result.outcomes[UNCOMPRESSED][0]
        first, second = (load(each.folder, result.task).classifier for each in (whole, outcome))
        kind, other = first.model.shape.kind, second.model.shape.kind
        if kind != other or second.kept_ids is not None:
            why = f"it is of the kind {other}, not {kind}" if kind != other else "it knows fewer words"
            raise UserError(f"{self.shown} cannot be compared with the uncompressed model on the stage: {why}.")
        (learner, corpus), tuned = self._begun, f"fine-tuned on {result.task.name}"
        place = Placement.of(outcome.layers, kept_heads(second.model), first.model.shape)
        models = (
            StageModel(replace_model(learner, model), corpus, changed=f"{tuned}, {name}", placed=placed)
            for model, name, placed in ((first.model, UNCOMPRESSED, None), (second.model, self.shown, place))
        )
        flip = min(outcome.flips, key=lambda flip: flip.before != flip.right, default=None)
        exits = " Its early exits are not shown." if len(second.exits) else ""
        subtitles = (f"Uncompressed, {tuned}.", f"{self.shown}.{place.said}{exits}")
        made = Versions(*models, subtitles)
        return made, made.model.sentence if flip is None else flip.text

    def _first(self) -> Outcome:
        if self.result is None or self.shown not in self.result.outcomes:
            raise UserError("Choose a pipeline below “What changed” first.")
        return self.result.outcomes[self.shown][0]

    @property
    def offered(self) -> list[str]:
        """The pipelines that can be chosen."""
        known = (read_pipeline(line).name for line in (*SHOWN_FIRST, *methods(), *VARIANTS))
        return list(dict.fromkeys([*self.own, *known, *self.chosen]))


@dataclass(frozen=True)
class Placement:
    """Where the attention of a compressed model stands beside that of the uncompressed one.

    `layers` has, for each layer of the uncompressed model, the compressed one's that is nearest to it; `heads`, for
    each layer of the compressed one, the heads that it still has of `every`.
    """

    layers: tuple[int, ...]
    heads: tuple[tuple[int, ...], ...]
    every: int

    @classmethod
    def of(
        cls, groups: Sequence[Sequence[int]], heads: tuple[tuple[int, ...], ...], whole: Architecture
    ) -> "Placement":
        """Where layers go that stand for groups of the `whole` model's, from 1, and have these of its heads."""
        groups = groups or tuple((k + 1,) for k in range(len(heads)))
        near = [[min(abs(t + 1 - each) for each in group) for group in groups] for t in range(whole.layers)]
        return cls(tuple(each.index(min(each)) for each in near), heads, whole.heads)

    def __call__(self, weights: Tensor) -> Tensor:
        """Weights `[l, h, n, m]` in the places of the uncompressed model; a head that was cut has none."""
        if len(weights) != len(self.heads):  # of a decoder
            return weights
        placed = weights.new_zeros((len(weights), self.every, *weights.shape[2:]))
        for layer, heads in enumerate(self.heads):
            placed[layer, list(heads)] = weights[layer, : len(heads)]
        return placed[list(self.layers)]

    @property
    def said(self) -> str:
        """What differs, in words."""
        layers = cut = ""
        if len(self.heads) != len(self.layers):
            own, every = (", ".join(str(k + 1) for k in some) for some in (self.layers, range(len(self.layers))))
            layers = f" Its layers {own} are shown next to layers {every}."
        if any(len(heads) < self.every for heads in self.heads):
            cut = " Heads that were cut are empty, and count as 0 in the mean of all heads."
        return layers + cut


QUESTIONS: dict[str, dict[str, Any]] = {
    "Fewer parameters, but faster?": {"chosen": ["layer sharing", "factorised embeddings", "layer dropping"]},
    "How few bits?": {
        "chosen": ["quantization(bits=8)", "quantization(bits=3)", "quantization(bits=2)", "quantization(bits=1)",
                   "Q8BERT(bits=2)"],
    },
    "Does a teacher help?": {"chosen": ["soft targets", "DistilBERT", "layer dropping", "small from scratch"]},
    "What can be cut?": {
        "chosen": ["head pruning", "neuron pruning", "pruning", "pruning(sparsity=0.9, stored=sparse)"],
    },
}  # fmt: skip
"""Questions to begin with, and what is chosen for each; one click asks it."""
