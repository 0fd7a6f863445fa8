"""What the Train page folds away: edits of the run that trains, the search for a rate, and the runs that are kept."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.corpora.sources import is_generated
from playground.errors import UserError
from playground.training import Session
from playground.training.checkpoint import kept
from playground.training.store.runs import LONGEST_TITLE, RunRow, command, settings
from playground.zoo import entry_named
from playground.zoo.preset import RECIPE_PRESETS
from widgets.animation import replay
from widgets.charts.chart import Cursor
from widgets.charts.columns import loss_label
from widgets.charts.saved_runs import kept_chart
from widgets.charts.strategies_over_steps import legend
from widgets.lists.run_line import RunLine
from widgets.pages.classroom import ClassStart
from widgets.pages.layout import STRETCH, View, button, column, download, plot, row, tabs
from widgets.pages.train.measures import LayerSizes, ProbeCurves
from widgets.pages.train.numbers import STATES
from widgets.pages.train.writing import Writing
from widgets.state.train import extra_seeds, forks, rate_search, saved_runs
from widgets.state.train.forks import AT_ONCE
from widgets.state.train.kept_runs import groups, held_out_curves, noise, tree
from widgets.state.train.store import TrainStore
from widgets.static import svg
from widgets.theme import html, say

LISTED = 30  # runs that the list shows, and by how many more it grows, the newest trees first
READ_EVERY = 1.5  # seconds between two looks into the list of runs

NO_RUN = say("No saved run yet; press Train to make the first.", "quiet")

AS_IT_IS, HERE = "as it is", "here"

NUMBERS = {"lr": "learning rate", "muon_lr": "Muon's rate", "grad_clip": "grad_clip", "weight_decay": "weight_decay"}
WHOLE = ("batch_size", "steps", "seed")
"""The fields for knobs of the recipe, and for those that are whole numbers."""


class RunTools(View):
    """Tabs below the picture of a run: what is measured, its hyperparameters, and the runs that are kept.

    Each of the `parts` is made when it is first asked for.
    """

    def __init__(self, train: TrainStore, cursor: Cursor) -> None:
        parts: dict[str, Callable[[], View]] = {
            "Probes": lambda: ProbeCurves(train, cursor), "Layers": lambda: LayerSizes(train, cursor),
            "Write": lambda: Writing(train), "Runs": lambda: RunList(train, cursor),
            "Hyperparameters and forks": lambda: HyperparameterEdits(train),
            "Learning rate": lambda: RateSearch(train),
        }  # fmt: skip
        if train.classes is not None:
            parts["Class"] = lambda: ClassStart(train.begin_class)
        self.parts = {name: cache(make) for name, make in parts.items()}
        super().__init__(tabs(self.parts, [*parts].index("Runs") if train.kept() else 0, self._poll))

    def _poll(self, number: int) -> None:
        [*self.parts.values()][number]().poll()

    def poll(self) -> None:
        self._poll(self.layout.active)


class HyperparameterEdits(View):
    """The knobs of the run, a label that says what a change would be, and the buttons that turn or fork."""

    def __init__(self, train: TrainStore) -> None:
        self.train, self.session, self.entry = train, None, None
        look = {"width": 118, "size": "small", "margin": (4, 4)}
        number = {"start": 0.0, "step": 1e-3, "format": "0.0[00000]", **look}
        self.fields: dict[str, Any] = {n: pmui.FloatInput(label=label, **number) for n, label in NUMBERS.items()}
        self.fields |= {n: pmui.IntInput(label=n, start=0, format="0", **look) for n in WHOLE}
        self.fields["optimiser"] = pmui.Select(label="optimiser", options=["muon", "adamw"], **look)
        self.preset = pmui.Select(label="recipe", options=[AS_IT_IS, *RECIPE_PRESETS], value=AS_IT_IS, **look)
        self.preset.param.watch(lambda event: self._take_preset(event.new), "value")
        self.forked_at = pmui.Select(label="fork from", options={HERE: None}, value=None, **look)
        self.text = html(say("Press Train first; then settings can be changed during the run.", "quiet"))
        self.now = button("Change now", lambda: forks.change(train, self.changed), "tune", disabled=True, margin=(4, 4))
        self.fork = button("Fork here", self._fork, "fork_right", disabled=True, margin=(4, 4))
        self.knobs = row(*self.fields.values(), self.preset, self.forked_at, visible=False, margin=(0, 6), **STRETCH)
        super().__init__(column(self.knobs, self.text, row(self.now, self.fork, margin=(0, 6))))

    def poll(self) -> None:
        session = self.train.session
        learner = session.learner if session is not None else None
        if session is None or learner is None:
            return
        if session is not self.session or learner.entry is not self.entry:
            self.session, self.entry = session, learner.entry
            self._fill(session)
            self.knobs.visible = True
        steps = kept(Path(session.run.out)) if session.run.out is not None else ()
        options = {HERE: None} | {f"step {step}": step for step in steps if step != learner.step}
        if self.forked_at.options != options:
            value = self.forked_at.value if self.forked_at.value in options.values() else None
            self.forked_at.param.update(options=options, value=value)
        changed, trains = self.changed, session.state in ("running", "paused")
        self.text.object = say(f"What would change: {forks.would_change(self.train, changed)}.")
        self.now.disabled = not (trains and changed and set(changed) <= set(AT_ONCE))
        self.fork.disabled = session.state == "failed"
        self.fork.label = "Fork here" if self.forked_at.value is None else f"Fork from step {self.forked_at.value}"

    @property
    def changed(self) -> dict[str, Any]:
        """The fields that differ from the run."""
        old = self._values(self.session)
        return {n: self.fields[n].value for n in old if self.fields[n].value not in (None, old[n])}

    def _values(self, session: Session | None) -> dict[str, Any]:
        learner = session.learner if session is not None else None
        if learner is None:
            return {}
        return {n: learner.seed if n == "seed" else getattr(learner.entry.recipe, n) for n in self.fields}

    def _fill(self, session: Session) -> None:
        values, learner = self._values(session), session.learner
        if learner is not None and learner.step >= values["steps"]:
            values["steps"] = learner.step + values["steps"]  # a fork of a run that is over needs more steps
        for name, value in values.items():
            self.fields[name].value = value
        self.preset.value = AS_IT_IS

    def _take_preset(self, name: str) -> None:
        """A recipe as a whole; the shape of the model stays, for a fork keeps the weights."""
        for knob, value in (RECIPE_PRESETS[name].recipe if name in RECIPE_PRESETS else {}).items():
            if knob in self.fields:
                self.fields[knob].value = value

    def _fork(self) -> None:
        forks.fork_run(self.train, self.changed, self.forked_at.value)


class RateSearch(View):
    """A button that tries rates from low to high with a copy of the model, the curve, and what it suggests."""

    def __init__(self, train: TrainStore) -> None:
        self.train, self.picture = train, html("")
        self.search = button("Find a learning rate", partial(rate_search.look_for_rate, train), "search", margin=(4, 4))
        self.use = button("Use it", self._use, "check", disabled=True, margin=(4, 4))
        about = (
            "The rate grows in every step until the loss diverges (arXiv:1506.01186). A copy of the model is trained, "
            "so the run stays as it is."
        )
        self.text = html(say(about, "quiet"))
        super().__init__(column(row(self.search, self.use, margin=(0, 6)), self.text, self.picture))

    def poll(self) -> None:
        search, tried = self.train.search, list(self.train.tried)
        self.search.disabled = search.busy
        if not self.is_new((len(tried), search.turn)):
            return
        found = None if search.busy else search.result
        self.picture.object = svg.search(tried, found) if tried and not search.busy else ""
        self.use.disabled = found is None
        if found is not None:
            self.text.object = say(found.sentence)
        elif search.error is not None:
            self.text.object = say(search.error, "trouble")

    def _use(self) -> None:
        found, session = self.train.search.result, self.train.session
        if found is None:
            return
        self.train.settings = {"lr": found.rate, "muon_lr": found.matrix_rate}
        if session is not None and session.state in ("running", "paused"):
            forks.change(self.train, self.train.settings)


class RunList(View):
    """The tree of runs, each to be ticked or opened; those that are ticked stay, whatever is searched for."""

    def __init__(self, train: TrainStore, cursor: Cursor) -> None:
        self.train, self.read_at, self.most = train, 0.0, LISTED
        self.lines: dict[str, RunEntry] = {}
        self.none, self.names, self.noise = html(NO_RUN), html(""), html("")
        self.search = pmui.TextInput(
            label="search runs", placeholder="name, model, corpus, state …", size="small", visible=False,
            margin=(6, 10), width=320,
        )  # fmt: skip
        self.search.param.watch(lambda _: self._again(), "value_input")
        self.list = pn.Column(margin=0, **STRETCH)
        self.older = button("Show older runs", self._show_older, "expand_more", visible=False, margin=(4, 4))
        self.ticked = TickedRuns(train, self._again)
        self.chart = cache(lambda: kept_chart(cursor))
        self.compared = column(self.names, lambda: plot(self.chart(), margin=(0, 10)), self.noise, visible=False)
        position = "Saved until you leave." if train.quota.shared else f"Kept in {train.runs.folder}."
        kept_in, self.again = html(say(position, "quiet")), html("")
        parts = (self.none, self.search, self.list, self.older, self.ticked, self.compared, self.again, kept_in)
        super().__init__(column(*parts))

    def poll(self) -> None:
        ticked = [name for name, line in self.lines.items() if line.tick.value]
        if time.monotonic() - self.read_at < READ_EVERY and ticked == self.train.ticked:
            return
        self.read_at = time.monotonic()
        runs = self.train.kept()
        found = tree([run for run in runs if run.name in ticked or _matches(run, self.search.value_input or "")])
        listed = found[: self.most]
        if [run.name for _, run in listed] != list(self.lines):
            self.lines = {r.name: self.lines.get(r.name) or RunEntry(r, depth, self._open) for depth, r in listed}
            self.list[:] = list(self.lines.values())
        for _, run in listed:
            self.lines[run.name].renew(run, run.name == self.train.name_of_run, self.train.session)
        self.none.object, self.search.visible = "" if runs else NO_RUN, bool(runs)
        left = len(found) - len(listed)
        self.older.param.update(visible=left > 0, label=f"Show older runs ({left:,} more)")
        some = [run for _, run in listed if run.name in ticked]
        self.ticked.offer(some)
        self.train.ticked = ticked
        self._compare(some)
        shown = self.train.session if not any(r.parent for r in runs if r.name == self.train.name_of_run) else None
        typed = command(shown.run) if shown is not None else ""
        siblings = extra_seeds.siblings(self.train)
        typed += f" --seeds {1 + len(siblings.seeds)}" if typed and siblings else ""
        where = "" if shown is None or is_generated(shown.run.corpus.name) else " Your text is read from that file."
        self.again.object = f"<p>The run on screen again: <code>{escape(typed)}</code>{where}</p>" if typed else ""

    def _again(self) -> None:
        self.read_at = 0.0

    def _open(self, name: str) -> None:
        self.train.open(name)
        self._again()

    def _show_older(self) -> None:
        self.most += LISTED
        self._again()

    def _compare(self, runs: list[RunRow]) -> None:
        if not self.is_new([(run.name, run.step, run.title) for run in runs]):
            return
        grouped = groups(runs)
        self.chart().figure.yaxis.axis_label = loss_label(run.unit for run in runs)
        curve = partial(saved_runs.curve, self.train)
        self.chart().show({name: held_out_curves(curve, some) for name, some in grouped.items()})
        self.names.object = f'<div class="label">Held out, side by side</div>{legend(list(grouped))}'
        self.noise.object = say(noise(grouped))
        self.compared.visible = bool(runs)


class TickedRuns(View):
    """What can be done with the runs that are ticked: rename one, see it again as a page, delete them."""

    def __init__(self, train: TrainStore, renew: Callable[[], None]) -> None:
        self.train, self.renew, self.runs, self.asked = train, renew, [], html("")
        self.rename = button("Rename", self._ask_title, "edit", margin=(4, 4))
        self.delete = button("Delete", self._ask, "delete", margin=(4, 4))
        self.replay = replay_button(train, lambda: self.runs[0].name if len(self.runs) == 1 else "")
        self.title = pmui.TextInput(
            label="title", max_length=LONGEST_TITLE, size="small", width=320, margin=(4, 10), visible=False
        )
        self.title.param.watch(lambda event: self._rename(event.new), "value")
        self.sure = button("Delete for good", self._delete, "delete_forever", color="error", margin=(4, 4))
        self.keep = button("Keep", self._close, margin=(4, 4))
        self.question = column(self.asked, row(self.sure, self.keep, margin=(0, 6)), visible=False)
        buttons = row(self.rename, self.replay, self.delete, margin=(0, 6))
        super().__init__(column(buttons, self.title, self.question, visible=False))

    def offer(self, runs: list[RunRow]) -> None:
        if [run.name for run in runs] != [run.name for run in self.runs]:
            self._close()
        self.runs = runs
        self.layout.visible = bool(runs)
        self.replay.filename = f"{runs[0].name if runs else 'run'}.html"
        self.rename.disabled = self.replay.disabled = len(runs) != 1

    def _close(self) -> None:
        self.title.visible = self.question.visible = False

    def _ask_title(self) -> None:
        (run,) = self.runs
        self.title.param.update(label=f"title of {run.name}", value=run.shown, visible=True)

    def _rename(self, title: str) -> None:
        if self.title.visible and len(self.runs) == 1 and title != self.runs[0].shown:
            run = self.runs[0]
            saved_runs.rename(self.train, run.name, "" if title == run.name else title)
            self._close()
            self.renew()

    def _ask(self) -> None:
        names = {run.name for run in self.runs}
        forks = ", ".join(fork.shown for fork in self.train.kept() if fork.parent in names)
        them = "it" if len(self.runs) == 1 else "them"
        question = f"Delete {', '.join(run.shown for run in self.runs)} with all checkpoints? This cannot be undone."
        self.asked.object = say(question + f" {forks} left {them} and can still be used." * bool(forks), "notice")
        self.question.visible = True

    def _delete(self) -> None:
        saved_runs.delete(self.train, [run.name for run in self.runs])
        self._close()
        self.renew()


def replay_button(train: TrainStore, name: Callable[[], str]) -> Any:
    """A button that hands over a kept run, by default the one on screen, as a page that plays offline."""
    about = "The run up to its last checkpoint as one HTML file that plays without a network."
    look = {"description": about, "variant": "outlined", "margin": (4, 4)}
    refuse = partial(setattr, train, "trouble")

    def page() -> bytes:
        return replay.page(saved_runs.replay(train, name())).encode()

    return download(page, "run.html", "Save as HTML", refuse, **look)


def _matches(run: RunRow, searched: str) -> bool:
    """Whether every word that is searched for stands in what the list says of a run."""
    text = f"{run.title} {run.name} {facts_of(run, here=False)}".lower()
    return all(word in text for word in searched.lower().split())


class RunEntry(View):
    """One run of the list: a tick, what it is and how far it came, and the way back to it."""

    def __init__(self, run: RunRow, depth: int, act: Callable[[str], None]) -> None:
        self.tick = RunLine(label=run.shown, margin=(0, 10, 0, 4), **STRETCH)
        self.tick.param.watch(lambda _: act(run.name), "opened")
        self.knobs, self.facts = _knobs(run), html("", margin=(0, 10, 4, 27))
        edge = {"border-left": "2px solid #8886"} if depth else {}
        margin = (0, 6, 0, 8 + 22 * min(depth, 6))
        super().__init__(pn.Column(self.tick, self.facts, margin=margin, styles=edge, **STRETCH))

    def renew(self, run: RunRow, here: bool, session: Session | None) -> None:
        """What is known of it now; the run on screen can be opened again once it was stopped."""
        self.tick.label = run.shown
        self.facts.object = say(facts_of(run, here), "quiet") + self.knobs
        self.tick.disabled = here and session is not None and session.reason != "asked" and session.state != "failed"


def facts_of(run: RunRow, here: bool) -> str:
    """What the list says of a run."""
    held_out = (
        "not yet evaluated" if run.held_out is None else f"held out {run.held_out:.3f} {run.unit}{_of(run.entry)}"
    )
    of = run.settings.get("recipe", {}).get("steps")
    steps = f"{run.step:,} of {of:,} steps" if of else f"{run.step:,} steps"
    state = STATES.get(run.state, run.state).format(run.step)
    changed = f"left {run.parent} at step {run.forked_at:,}: {run.changed}" if run.parent else run.changed
    model = f"{run.entry} on {run.corpus}"
    facts = [model, run.by_hand.rstrip("."), f"seed {run.seed}", steps, held_out, state, run.error, changed]
    return " · ".join(filter(None, [run.title and run.name, *facts, "on screen" * here]))


@cache
def _of(entry: str) -> str:
    """Which of several questions the loss of a run is of; nothing where there is one, or the entry is not known."""
    try:
        questions = entry_named(entry).objective.target_names
    except UserError:
        return ""
    return f" ({questions[0]})" if len(questions) > 1 else ""


def _knobs(run: RunRow) -> str:
    """The knobs that are not as the model's entry has them, and folded away all others."""
    kinds = {kind: run.settings.get(kind, {}) for kind in ("objective", "recipe")}
    try:
        usual = settings(entry_named(run.entry))
    except UserError:  # this version does not know the entry
        usual = kinds
    turned = {k: {n: v for n, v in knobs.items() if v != usual[k].get(n, v)} for k, knobs in kinds.items()}
    first, rest = _listed(turned), _listed(kinds)
    every = f"<details><summary class='quiet'>all knobs</summary>{''.join(say(one, 'quiet') for one in rest)}</details>"
    return say(f"turned: {' · '.join(first)}" if first else "", "quiet") + every * bool(rest)


def _listed(kinds: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    written = {
        kind: [f"{name} {v:.4g}" if isinstance(v, float) else f"{name} {v}" for name, v in some.items()]
        for kind, some in kinds.items()
    }
    return [f"{kind}: {', '.join(some)}" for kind, some in written.items() if some]
