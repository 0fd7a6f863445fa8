"""Four functions for a notebook cell: `stage`, `table`, `train` and `compare`. What they return shows itself."""

import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from html import escape
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
from IPython import get_ipython
from IPython.display import HTML, display

from playground.analysis.predictions import Predictions, glance, sentence_of
from playground.corpora import Corpus, open_corpus
from playground.devices import pick
from playground.errors import UserError, unwritable
from playground.finetuning import FIRST_CHOICE, Comparison, Strategy
from playground.finetuning.comparing.compare import compare as compare_strategies
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.files import file_task_name
from playground.finetuning.data.task import short
from playground.finetuning.report.page import Report
from playground.finetuning.report.page import write as write_files
from playground.finetuning.run.record import Record
from playground.finetuning.strategy.parse import read, spell
from playground.knob import turn
from playground.objectives import find_objective
from playground.objectives.old_names import RECIPE, renamed
from playground.objectives.plan_overrides import parse, settings_of, write
from playground.tokenizing import read_input
from playground.trace.rebuild import SENTENCE, Rebuilt, rebuild
from playground.trace.rebuild import table as survey_table
from playground.training import Evaluated, Run, Started, Stepped, checkpoint
from playground.training import train as run_steps
from playground.training.observe.replay import Curve, Replay, ReplayRecorder
from playground.training.session import Row
from playground.training.train_state import TrainState
from playground.zoo import find_entry
from widgets.animation import StageWidget, live_widget, standalone
from widgets.animation.cells import needs_module
from widgets.animation.replay import fragment
from widgets.animation.survey_table import Wall
from widgets.state.base import base_of, corpus_info, origin_of
from widgets.state.stage import LONGEST_WINDOWED, StageModel, StageStore
from widgets.static import comparison, predictions, svg
from widgets.static.report_figure import draw
from widgets.tokens import VERMILION

EVERY = 0.25  # seconds between two drawings of a running chart

STYLE = """
.playground { padding: 6px clamp(4px, 2%, 20px) 10px; overflow-x: auto; }
.playground p { margin: 0 0 .6em; }
.playground p.title { font-weight: 600; }
.playground .quiet { opacity: .72; font-size: .9em; }
.playground .pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 360px), 1fr));
  gap: 14px 28px; margin: 0 0 1em; }
.playground table { margin: 0 0 1em; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.playground th, .playground td { padding: 5px 14px 5px 8px; }
.playground td { white-space: nowrap; }
.playground tr > :first-child { text-align: left; }
"""

P = ParamSpec("P")
T = TypeVar("T")

EARLIER = {"labels": "train_size", "rates": "lr_policy", "packing": "input_format"}


def with_earlier_names(function: Callable[P, T]) -> Callable[P, T]:
    """A function that still takes keywords under their earlier names, with a warning."""

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> T:
        for old in EARLIER.keys() & named.keys():
            warnings.warn(f"The option {old} is called {EARLIER[old]} now.", FutureWarning, stacklevel=2)
            named[EARLIER[old]] = named.pop(old)
        return function(*given, **named)

    return call


def headless() -> bool:
    """Whether this kernel has no browser (papermill, nbconvert), so that widgets would stay blank.

    The environment variable PLAYGROUND_HEADLESS decides where it is set; else JupyterLab's marks are looked for.
    """
    if (given := os.environ.get("PLAYGROUND_HEADLESS")) is not None:
        return given not in ("", "0", "false")
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return True
    if "JPY_SESSION_NAME" in os.environ:
        return False
    return not (shell.kernel.get_parent("shell") or {}).get("metadata")


@dataclass(frozen=True)
class Picture:
    """A rebuilt text on the stage: a live widget in JupyterLab, an animation without a kernel everywhere else."""

    rebuilt: Rebuilt
    scene: StageStore | None = None
    model: StageModel | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The same as `playground objective --json`."""
        return self.rebuilt.facts()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        record = self.rebuilt.record() if self.model is None else self.model.answers(self.rebuilt)
        bundle = {
            "text/plain": f"{self.rebuilt.objective.name} on {self.rebuilt.text!r}",
            "text/html": standalone(record, needs_module(shown=headless())),
        }
        if headless():
            return bundle
        widget = live_widget(self.scene) if self.scene is not None else StageWidget(record=record)
        live = widget._repr_mimebundle_() or {}
        return {**(live[0] if isinstance(live, tuple) else live), **bundle}


def stage(
    objective: str = "MLM",
    text: str = "",
    *,
    seed: int = 0,
    plan: str | dict[str, Any] = "",
    model: "Trained | None" = None,
    **knobs: Any,
) -> Picture:
    """One objective on one text, animated. `plan` is a plan by hand such as "chosen=3,8"; `knobs` turn its knobs.

    With a `model` that `train` returned, its attention, predictions and losses are shown; without a text it gets a
    held-out one. In JupyterLab the plan and the mask can be edited by hand, and edits undone.
    """
    shown = None if model is None else StageModel(model.learner, model.corpus)
    chosen = find_objective(objective)
    text, pair = (text, "") if text or shown is None else shown.sample(chosen) or ("", "")
    wanted = parse(settings_of(plan)) if isinstance(plan, str) else plan
    ready, tokenizer = (chosen, None) if shown is None else (shown.ready(chosen), shown.corpus.tokenizer)
    made = rebuild(
        ready, text or SENTENCE, pair=pair, seed=seed, settings=knobs, wanted=wanted, tokenizer=tokenizer,
        longest=LONGEST_WINDOWED,
    )  # fmt: skip
    if headless():
        return Picture(made, None, shown)
    scene = StageStore()
    scene.model = shown
    query = {"objective": chosen.name, "text": made.text, "pair": pair, "seed": str(seed)}
    query["plan"] = plan if isinstance(plan, str) else write(plan)
    scene.open(query | {f"set.{name}": json.dumps(value) for name, value in knobs.items()})
    return Picture(made, scene, shown)


def table(
    text: str = SENTENCE,
    *,
    pair: str = "",
    seed: int | None = None,
    plans: Mapping[str, Mapping[str, Any]] | None = None,
) -> Wall:
    """The survey's whole table for a text: what eleven objectives give and ask. Each row unfolds its stage."""
    return Wall(text, *survey_table(text, seed, plans, pair))


@dataclass(frozen=True)
class Trained:
    """A model that was trained in this notebook, with its curve; `compare` takes it as its base."""

    learner: TrainState
    corpus: Corpus
    rows: tuple[Row, ...]
    unigram_entropy: float
    glance: Predictions | None
    replay: Replay

    @property
    def held_out(self) -> float:
        """The last held-out loss in nats per scored position."""
        return next(r.held_out for r in reversed(self.rows) if r.held_out is not None)

    def _repr_html_(self) -> str:
        """The run to be scrubbed through; where no script may run, its curve and its last predictions."""
        chart = _chart(self.learner, self.corpus, self.rows, self.unigram_entropy, self.glance)
        return _output(fragment(self.replay, chart, needs_module()))


def train(
    entry: str = "BERT",
    corpus: str | Corpus = "world",
    *,
    steps: int = 300,
    seed: int = 0,
    sentence: str = "",
    device: str = "auto",
    **recipe: Any,
) -> Trained:
    """Train an entry of the zoo here and now; the chart moves while it learns, an interrupt keeps what is there."""
    chosen = find_entry(entry)
    chosen = replace(chosen, recipe=turn(chosen.recipe, renamed(recipe, RECIPE) | {"steps": steps}))
    text = open_corpus(corpus) if isinstance(corpus, str) else corpus
    watched = read_input(sentence, text.tokenizer).tokens if sentence else sentence_of(text)
    run = Run(chosen, text, seed, pick(device), steps=steps, evaluate_every=max(1, min(50, steps // 8)))
    torch.set_num_threads(1)
    handle: Any = display(HTML(""), display_id=True) if get_ipython() else None
    rows: list[Row] = []
    learner, moments, unigram, seen, drawn = None, None, text.unigram_entropy, None, 0.0
    try:
        for event in run_steps(run):
            match event:
                case Started():
                    learner = event.learner
                    moments = ReplayRecorder.of(learner, text.name, watched, steps)
                case Stepped():
                    rows.append(Row.of(event))
                case Evaluated():
                    rows.append(Row(event.step, None, event.held_out, 0, 0.0))
            if learner is not None and moments is not None and moments.due(learner.step):
                moments.look(learner)
            if handle is not None and learner is not None and time.monotonic() - drawn > EVERY:
                drawn = time.monotonic()
                seen = glance(learner.model, learner.objective, learner.step, watched)
                handle.update(HTML(_output(_chart(learner, text, rows, unigram, seen, steps))))
    except KeyboardInterrupt:
        pass
    assert learner is not None, "training was interrupted before it began"
    assert moments is not None, "a run that begins has its first moment"
    moments.look(learner)
    seen = glance(learner.model, learner.objective, learner.step, watched)
    training = [(r.step, r.loss) for r in rows if r.loss is not None]
    evaluated = [(r.step, r.held_out) for r in rows if r.held_out is not None]
    replay = moments.replay(Curve(training, evaluated, moments.levels(run)))
    made = Trained(learner, text, tuple(rows), unigram, seen, replay)
    if handle is not None:
        handle.update(HTML(""))
    return made


def _chart(
    learner: TrainState, corpus: Corpus, rows: Sequence[Row], unigram: float, seen: Predictions | None,
    last: int | None = None,
) -> str:  # fmt: skip
    tested = next((r.held_out for r in reversed(rows) if r.held_out is not None), None)
    title = f"{learner.entry.name} on {corpus.name}, seed {learner.seed}: step {learner.step}"
    title += f", held out {tested:.3f} nats" if tested is not None else ""
    picture = svg.curve(rows, last or learner.step, unigram, learner.entry.bound(corpus))
    return f'<p class="title">{escape(title)}</p>{picture}{predictions.markup(seen)}'


def _output(markup: str) -> str:
    """Markup of ours as an output cell, in line with the stage above it and in the colours of the notebook."""
    return f'<div class="playground"><style>{STYLE}</style>{markup}</div>'


@dataclass(frozen=True)
class Compared:
    """A finished comparison that shows itself: outcomes by seed, the numbers, the verdict, the plans that were used."""

    report: Report

    @property
    def facts(self) -> dict[str, Any]:
        """The same as `playground compare --json`."""
        return self.report.facts()

    def write(self, folder: str | Path) -> list[str]:
        """Write page, pictures, tables, facts and notebook into a folder; what could not be made comes back."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        return write_files(self.report, Path(folder))

    def _repr_html_(self) -> str:
        made = self.report.comparison
        outcomes, metric = made.outcomes, short(made.task.metric)
        title = f"{metric[0].upper()}{metric[1:]} on unseen texts"
        right = svg.dots(title, {n: [o.accuracy for o in some] for n, some in outcomes.items()})
        forgetting = {n: [o.forgetting for o in some] for n, some in outcomes.items()}
        plans = "".join(svg.heat(name, some[0].groups, some[0].rates) for name, some in outcomes.items())
        return _output(
            f'<div class="pictures">{right}{svg.dots("Forgetting (nats)", forgetting, VERMILION)}</div>'
            f"{comparison.markup(self.facts)}"
            '<p class="title">Learning rate per layer over time (filled: full rate, empty: frozen)</p>'
            f'<div class="pictures">{plans}</div>'
        )


@with_earlier_names
def compare(
    base: Trained,
    task: str = "sentiment",
    strategies: Sequence[str | Strategy] = FIRST_CHOICE,
    *,
    train_size: int | Sequence[int] = 64,
    seeds: int = 3,
    seed: int = 0,
    steps: int = 80,
    match: str = "steps",
    lr_policy: str = "own",
    input_format: str | None = None,
    workers: int = 1,
    text_column: str | None = None,
    label_column: str | None = None,
    out: str | Path | None = None,
    resume: bool = False,
) -> Compared:
    """Fine-tune a trained model in several ways on the same seeds and labelled texts.

    The options are those of `playground compare`: `task` may be a labelled file of yours, `train_size` several numbers,
    a strategy a line such as "full + L2-SP [embeddings 1-40 x0]". With `out` the result and the base are kept in a
    folder, from where its notebook and its command make them again; `resume` goes on with what is there.
    """
    if not isinstance(base, Trained):
        raise UserError(f"The base is {type(base).__name__}; give what `train(...)` returned.")
    chosen = [read(line) if isinstance(line, str) else line for line in strategies]
    folder, learner, corpus = None if out is None else Path(out), base.learner, base.corpus
    asked = ComparisonSpec(
        str(folder / "base") if folder else "base", file_task_name(task, text_column, label_column),
        tuple(map(spell, chosen)), (train_size,) if isinstance(train_size, int) else tuple(train_size),
        seeds, seed, steps, match, lr_policy, workers, input_format,
    )  # fmt: skip
    start, record = base_of(learner, corpus), None
    if folder:
        try:
            (folder / "base").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        info = corpus_info(corpus, start, any(strategy.rehearses for strategy in chosen))
        checkpoint.save(folder / "base" / "checkpoint.safetensors", learner, corpus.tokenizer, info)
        record = Record.open(folder, resume)
    *_, last = compare_strategies(start, corpus.tokenizer, asked, chosen=chosen, record=record)
    assert isinstance(last, Comparison)
    made = Compared(Report(last, asked, origin_of(learner, corpus), draw))
    if folder:
        made.write(folder)
    return made
