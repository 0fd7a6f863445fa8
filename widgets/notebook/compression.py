"""A compression of a trained model in a notebook: what each pipeline costs and keeps."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from playground.compression import Compressed
from playground.compression.compare import Compression, CompressionFacts, CompressionSpec
from playground.compression.compare import compress as compress_models
from playground.compression.method import UNCOMPRESSED
from playground.compression.report import write
from playground.compression.storage import load as load_compressed
from playground.errors import UserError
from playground.finetuning import find_task
from playground.finetuning.run.base import base_of
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import in_block
from widgets.notebook.training import Trained, warn
from widgets.static import compression, svg


@dataclass(frozen=True, eq=False)
class CompressedModels:
    """A finished compression that shows itself: the meters side by side, what is kept, and what the lead is worth."""

    result: Compression
    base: str
    corpus: str

    @property
    def facts(self) -> CompressionFacts:
        """The same as `playground compress --json`."""
        return self.result.facts(self.base, self.corpus)

    @checked
    def details(self, pipeline: str) -> Compressed:
        """A compressed model of the first seed, to look into; it needs `out`, for without it the files are gone."""
        if pipeline not in self.result.outcomes:
            raise UserError(f"There is no pipeline {pipeline!r}; there are: {', '.join(self.result.outcomes)}.")
        return load_compressed(self.result.outcomes[pipeline][0].folder, self.result.task)

    def __repr__(self) -> str:
        return f"A compression on {self.result.task.name}: {', '.join(self.result.outcomes)}"

    def _repr_html_(self) -> str:
        facts = self.facts
        kept = svg.dots("Accuracy on unseen texts", {r["name"]: r["accuracy"]["values"] for r in facts["pipelines"]})
        layers, classes = len(self.result.outcomes[UNCOMPRESSED][0].layers), self.result.task.answer.classes
        changed = "".join(
            f"<details><summary>What changed: {escape(name)}</summary>{compression.changes(first, layers, classes)}"
            "</details>"
            for name, (first, *_) in self.result.outcomes.items()
            if name != UNCOMPRESSED
        )
        return in_block(
            f'<div class="pictures">{kept}</div>{compression.frontier(facts)}'
            f"{compression.meters(facts)}{compression.table(facts)}"
            + "".join(f"<p>{escape(line)}</p>" for line in (facts["verdict"], *facts["notices"]))
            + changed
        )


@checked
def compress(
    base: Trained,
    pipelines: str | Sequence[str] = CompressionSpec.pipelines,
    *,
    task: str = "sentiment",
    train_size: int = 64,
    seeds: int = CompressionSpec.seeds,
    seed: int = 0,
    steps: int = 80,
    workers: int = 1,
    out: str | Path | None = None,
    resume: bool = False,
) -> CompressedModels:
    """Make a trained model smaller in several ways, each on the same seeds and labelled texts.

    A pipeline is a line such as "DistilBERT, int8", as `playground compress --with` takes it: one text is one pipeline,
    a list several. With `out` the models, the table and the record are kept in a folder, and `resume` continues with
    what is there. Tab inside the quotes and `playground compress --methods` list the methods.

    What comes back shows itself; its `facts` are what `playground compress --json` prints, `details(pipeline)` is a
    compressed model, to look into.

    >>> smaller = compress(train("BERT"), ["int8", "DistilBERT, int8"])
    >>> smaller.facts["verdict"]
    """
    learner, corpus, folder = base.learner, base.corpus, None if out is None else Path(out)
    lines = (pipelines,) if isinstance(pipelines, str) else tuple(pipelines)
    spec = CompressionSpec("base", task, lines, seeds, seed, train_size, steps, workers)
    found = find_task(task)
    warn(found.warning, found.note)
    events = compress_models(base_of(learner, corpus), corpus.tokenizer, spec, task=found, folder=folder, resume=resume)
    next(events)  # what cannot be compressed is refused here
    warn("", spec.power)
    *_, last = events
    made = CompressedModels(last, learner.entry.name, corpus.name)
    if folder:
        write(last, made.facts, folder)
    return made
