"""A comparison of strategies in a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playground.errors import writing
from playground.finetuning import FIRST_CHOICE, Comparison, Strategy
from playground.finetuning.comparing.compare import compare as compare_strategies
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.files import file_task_name, find_task
from playground.finetuning.data.task import short
from playground.finetuning.report.page import Origin, Report, ReportFacts
from playground.finetuning.report.page import write as write_files
from playground.finetuning.run.base import base_of
from playground.finetuning.run.record import TrialRecord
from playground.finetuning.strategy.parse import read, spell, split
from playground.training import checkpoint
from widgets.design_tokens import VERMILION
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import in_block
from widgets.notebook.training import Trained, warn
from widgets.state.base import corpus_info
from widgets.static import comparison, layer_mix, svg


@dataclass(frozen=True, eq=False)
class Compared:
    """A finished comparison that shows itself: outcomes by seed, numbers, verdict, the plans that were used."""

    report: Report

    @property
    def facts(self) -> ReportFacts:
        """The same as `playground compare --json`."""
        return self.report.facts()

    @checked
    def write(self, folder: str | Path) -> None:
        """Write page, picture, table, facts and notebook into a folder."""
        write_files(self.report, Path(folder))

    def _repr_html_(self) -> str:
        made = self.report.comparison
        outcomes, metric = made.outcomes, short(made.task.metric)
        title = f"{metric[0].upper()}{metric[1:]} on unseen texts"
        right = svg.dots(title, {n: [o.accuracy for o in some] for n, some in outcomes.items()})
        forgetting = {n: [o.forgetting for o in some if o.forgetting is not None] for n, some in outcomes.items()}
        lost = svg.dots(f"Forgetting ({made.unit})", forgetting, VERMILION) if any(forgetting.values()) else ""
        plans = "".join(svg.heat(name, some[0].groups, some[0].rates) for name, some in outcomes.items())
        return in_block(
            f'<div class="pictures">{right}{lost}</div>'
            f"{layer_mix.markup(self.facts['strategies'])}{comparison.markup(self.facts)}"
            '<p class="title">Learning rate per layer over time (filled: full rate, empty: frozen)</p>'
            f'<div class="pictures">{plans}</div>'
        )

    def __repr__(self) -> str:
        return f"A comparison on {self.report.comparison.task.name}: {', '.join(self.report.comparison.outcomes)}"


@checked
def compare(
    base: Trained,
    task: str = "sentiment",
    strategies: str | Sequence[str | Strategy] = FIRST_CHOICE,
    *,
    train_size: int | Sequence[int] = 64,
    seeds: int = ComparisonSpec.seeds,
    seed: int = 0,
    steps: int = 80,
    match: str = "steps",
    lr_policy: str = "own",
    input_format: str | None = None,
    workers: int = 1,
    text_column: str | None = None,
    label_column: str | None = None,
    second_column: str | None = None,
    encoding: str | None = None,
    max_length: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
) -> Compared:
    """Fine-tune a trained model in several ways on the same seeds and labelled texts.

    The options are those of `playground compare`: `task` may be a labelled file of yours, `train_size` several numbers,
    a strategy a line such as "full + L2-SP [embeddings 1-40 x0]", `strategies` a list or one text with commas. With
    `out` the result and the base are kept in a folder, from where its notebook and its command make them again;
    `resume` continues with what is there. Tab inside the quotes and `playground zoo` list the tasks and the
    strategies.

    What comes back shows itself; its `facts` are what `playground compare --json` prints.

    >>> race = compare(train("BERT"), "sentiment", ["feature-based", "full"])
    >>> race.facts["verdict"]
    """
    lines = split(strategies) if isinstance(strategies, str) else strategies
    chosen = [read(line) if isinstance(line, str) else line for line in lines]
    folder, learner, corpus = None if out is None else Path(out), base.learner, base.corpus
    name = file_task_name(task, text_column, label_column, second_column, encoding)
    asked = ComparisonSpec(
        str(folder / "base") if folder else "base", name,
        tuple(map(spell, chosen)), (train_size,) if isinstance(train_size, int) else tuple(train_size),
        seeds, seed, steps, match, lr_policy, workers, input_format, max_length=max_length,
    )  # fmt: skip
    asked.check(chosen)
    found = find_task(asked.task)
    warn(found.warning, found.note)
    start, record = base_of(learner, corpus), None
    if folder:
        with writing(folder):
            (folder / "base").mkdir(parents=True, exist_ok=True)
        info = corpus_info(corpus, start)
        checkpoint.save(folder / "base" / "checkpoint.safetensors", learner, corpus.tokenizer, info)
        record = TrialRecord.open(folder, resume)
    events = compare_strategies(start, corpus.tokenizer, asked, task=found, chosen=chosen, record=record)
    next(events)  # what cannot be compared is refused here
    warn("", asked.power)
    *_, last = events
    assert isinstance(last, Comparison)
    origin = Origin.of(learner, corpus.name, corpus.hash)
    made = Compared(Report(last, asked, origin, svg.outcomes))
    if folder:
        made.write(folder)
    return made
