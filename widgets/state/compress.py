"""The state of the Compress page: the pipelines that are chosen or being put together, the run, and its result."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import param

from playground.compression import find_method, methods, read_pipeline
from playground.compression.compare import Compression, CompressionFacts, CompressionSpec, Outcome, compress
from playground.compression.meters import density
from playground.compression.report import FILES
from playground.compression.storage import FILE, load
from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.finetuning import find_task, tasks
from playground.knob import Knob
from playground.training import Session
from playground.training.parallel.workers import spare
from widgets.state.job import Job, as_trouble
from widgets.state.quota import ALONE
from widgets.state.transfer import base_of_session

SHOWN_FIRST = ("DistilBERT", "layer sharing", "int8", "small from scratch")
"""What a visit begins with: smaller and faster, smaller alone, fewer bits, and the honest baseline."""

OFFERED = (
    *SHOWN_FIRST, "DistilBERT + int8", "soft targets", "PKD", "TinyBERT", "MobileBERT", "MiniLM", "DualTrain", "PD",
    "Theseus", "BiLSTM", "CNN", "layer dropping", "head pruning", "neuron pruning", "pruning",
    "pruning(sparsity=0.9, stored=sparse)", "movement pruning", "factorised embeddings", "low rank",
    "smaller vocabulary", "early exit", "quantization(bits=8)", "quantization", "quantization(bits=3)",
    "quantization(bits=2)", "quantization(bits=1)", "Q8BERT", "Q8BERT(bits=2)", "mixed precision",
)  # fmt: skip
"""Pipelines that can be chosen without putting one together."""


TASKS = [name for name, task in tasks().items() if task.answer.about != "written"]
"""The tasks whose answers a head gives; models that write are not compressed here."""


class CompressStore(param.Parameterized):
    """What is compressed how, how far that is, and what came of it.

    `draft` is the pipeline that is being put together, `method` the one that could follow in it with its knobs
    `turned`. `shown` is the pipeline whose details are open.
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
    trouble = param.String("", doc="Why nothing can be compressed.")

    def __init__(self, **values: Any) -> None:
        super().__init__(**{"chosen": list(SHOWN_FIRST), **values})
        self.running, self.quota = Job("compression"), ALONE
        self.outcomes: dict[str, list[Outcome]] = {}
        self.base_name = self.corpus_name = ""
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
        outcomes: dict[str, list[Outcome]] = {}
        self.outcomes, self._folder = outcomes, folder
        self.corpus_name = session.run.corpus.name
        self.base_name = f"{session.run.entry.title} on {self.corpus_name}, step {base.learner.step}"

        def work(report: Progress) -> Compression:
            with ExitStack() as stopped:
                stopped.callback(folder.cleanup)
                report(0, total)
                for event in compress(base, tokenizer, spec, task=task, folder=Path(folder.name)):
                    if isinstance(event, Outcome):
                        outcomes.setdefault(event.pipeline, []).append(event)
                    report(sum(map(len, outcomes.values())), total)
                stopped.pop_all()  # the files are read as long as the result is shown
            assert isinstance(event, Compression)
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

    def _first(self) -> Outcome:
        if self.result is None or self.shown not in self.result.outcomes:
            raise UserError("Choose a pipeline below “What changed” first.")
        return self.result.outcomes[self.shown][0]

    @property
    def offered(self) -> list[str]:
        """The pipelines that can be chosen."""
        return list(dict.fromkeys([*self.own, *(read_pipeline(line).name for line in OFFERED), *self.chosen]))


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
