"""What the Train page folds away: turn a knob now or fork, look for a rate, and the runs that are kept."""

import io
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.plotting import figure

from playground.errors import Refusal
from playground.training import Session
from playground.training.async_checkpoint import kept
from playground.training.store.runs import LONGEST_TITLE, RunRow, settings
from playground.zoo import entry_named
from playground.zoo.preset import RECIPE_PRESETS
from playground.zoo.recipe import Recipe
from widgets.charts.saved_runs import kept_chart
from widgets.charts.strategies_over_steps import legend
from widgets.lists.run_line import RunLine
from widgets.pages.layout import download
from widgets.state.train import AT_ONCE, TrainStore, groups, held_out_curves, noise, tree
from widgets.static import svg
from widgets.theme import html, say

LISTED = 30
"""Runs that the list shows, and by how many more it grows, the newest trees first."""

READ_EVERY = 1.5
"""Seconds between two looks into the list of runs."""

STATES = {
    "running": "training",
    "steps": "finished",
    "seconds": "finished",
    "diverged": "diverged (NaN or infinity)",
    "asked": "stopped at step {:,}",
    "cut off": "cut off at step {:,}",
    "failed": "failed at step {:,}",
}

NO_RUN = say("No run is kept yet; the first one is when you press Train.", "quiet")

SMALL = {"size": "small", "margin": (4, 4), "variant": "outlined"}


class Tools:
    """Three folded parts below the loss; each is followed only while it is open."""

    def __init__(self, store: TrainStore) -> None:
        self.parts = (_Change(store), _Rates(store), _Runs(store))
        titles = ("Edit hyperparameters, or fork the run", "Find a learning rate", "Runs: list, tree and comparison")
        columns = [pmui.Column(*part.widgets, margin=0, sizing_mode="stretch_width") for part in self.parts]
        self.folded = pmui.Accordion(
            *zip(titles, columns, strict=True), margin=(8, 10), sizing_mode="stretch_width",
            disable_gutters=True, elevation=0, title_variant="body2",
            active=[2] if store.kept() else [],
        )  # fmt: skip
        self.column = self.folded

    @property
    def compared(self) -> figure:
        """The chart of the runs that are ticked."""
        return self.parts[-1].chart.figure

    def follow(self, session: Session | None) -> None:
        """Bring the open parts up to date."""
        for number in self.folded.active:
            self.parts[number].follow(session)


class _Change:
    """The knobs of the run, a label that says what a change would be, and the buttons that turn or fork."""

    NUMBERS = ("lr", "muon_lr", "grad_clip", "weight_decay")
    WHOLE = ("batch_size", "steps", "seed")

    def __init__(self, store: TrainStore) -> None:
        self.store, self.session, self.entry = store, None, None
        shared = {"width": 118, "size": "small", "margin": (4, 4)}
        make: dict[str, Any] = {
            n: pmui.FloatInput(label=_plain(n), start=0.0, step=1e-3, format="0.0[00000]", **shared)
            for n in self.NUMBERS
        }
        make |= {n: pmui.IntInput(label=_plain(n), start=0, format="0", **shared) for n in self.WHOLE}
        make["optimiser"] = pmui.Select(label="optimiser", options=["muon", "adamw"], **shared)
        self.fields = make
        self.way = pmui.Select(label="recipe", options=["as it is", *RECIPE_PRESETS], value="as it is", **shared)
        self.way.param.watch(lambda event: self._take_way(event.new), "value")
        self.place = pmui.Select(label="fork from", options=["here"], value="here", **shared)
        self.said = html(say("Press Train first; then a setting can be changed while it goes on.", "quiet"))
        self.now = pmui.Button(label="Change now", icon="tune", disabled=True, **SMALL)
        self.fork = pmui.Button(label="Fork here", icon="fork_right", disabled=True, **SMALL)
        self.now.on_click(lambda _: self._now())
        self.fork.on_click(lambda _: self._fork())
        wraps = {"flex_wrap": "wrap", "margin": (0, 6), "sizing_mode": "stretch_width"}
        self.knobs = pn.FlexBox(*make.values(), self.way, self.place, visible=False, **wraps)
        self.widgets = [self.knobs, self.said, pmui.Row(self.now, self.fork, margin=(0, 6))]

    def follow(self, session: Session | None) -> None:
        """Fill the fields from another run; say what is different."""
        learner = session.learner if session is not None else None
        if session is None or learner is None:
            return
        if session is not self.session or learner.entry is not self.entry:
            self.session, self.entry = session, learner.entry
            self._fill()
            self.knobs.visible = True
        places = ["here", *(f"step {step}" for step in self._kept() if step != learner.step)]
        if self.place.options != places:
            self.place.param.update(options=places, value=self.place.value if self.place.value in places else "here")
        changed, trains = self.changed, session.state in ("running", "paused")
        self.said.object = say(f"What would change: {self.store.would_change(changed)}.")
        self.now.disabled = not (trains and changed and set(changed) <= set(AT_ONCE))
        self.fork.disabled = session.state == "failed"
        label = "Fork here" if self.place.value == "here" else f"Fork from {self.place.value}"
        if self.fork.label != label:
            self.fork.label = label

    @property
    def changed(self) -> dict[str, Any]:
        """The fields that differ from the run."""
        session = self.session
        if session is None or session.learner is None:
            return {}
        old = _values(session)
        return {n: f.value for n, f in self.fields.items() if f.value is not None and f.value != old[n]}

    def _fill(self) -> None:
        assert self.session is not None
        values = _values(self.session)
        learner = self.session.learner
        if learner is not None and learner.step >= values["steps"]:
            values["steps"] = learner.step + values["steps"]  # a fork of a run that is over needs more steps
        for name, value in values.items():
            self.fields[name].value = value
        self.way.value = "as it is"

    def _take_way(self, name: str) -> None:
        """A recipe as a whole; the shape of the model stays, for a fork keeps the weights."""
        for knob, value in (RECIPE_PRESETS[name].recipe if name in RECIPE_PRESETS else {}).items():
            if knob in self.fields:
                self.fields[knob].value = value

    def _kept(self) -> list[int]:
        out = self.session.run.out if self.session is not None else None
        return list(kept(Path(out))) if out is not None else []

    def _now(self) -> None:
        self.store.change(self.changed)

    def _fork(self) -> None:
        step = None if self.place.value == "here" else int(self.place.value.removeprefix("step "))
        self.store.fork(self.changed, step)


def _values(session: Session) -> dict[str, Any]:
    learner = session.learner
    assert learner is not None
    recipe: Recipe = learner.entry.recipe
    return {n: getattr(recipe, n) for n in (*_Change.NUMBERS, "batch_size", "steps", "optimiser")} | {
        "seed": learner.seed
    }


def _plain(name: str) -> str:
    return {"lr": "learning rate", "muon_lr": "Muon's rate"}.get(name, name)


class _Rates:
    """A button that tries rates from low to high with a copy of the model, the curve, and what it suggests."""

    def __init__(self, store: TrainStore) -> None:
        self.store, self.tried = store, -1
        self.button = pmui.Button(label="Find a learning rate", icon="search", **SMALL)
        self.button.on_click(lambda _: store.look_for_rate())
        self.use = pmui.Button(label="Use it", icon="check", disabled=True, **SMALL)
        self.use.on_click(lambda _: self._use())
        self.said = html(say(
            "The rate grows in every step until the loss diverges (arXiv:1506.01186). A copy of the model is trained, "
            "so the run stays as it is.", "quiet",
        ))  # fmt: skip
        self.picture = html("")
        self.widgets = [pmui.Row(self.button, self.use, margin=(0, 6)), self.said, self.picture]

    def follow(self, session: Session | None) -> None:
        """Draw what was tried since."""
        search, tried = self.store.search, list(self.store.tried)
        if self.button.disabled != search.busy:
            self.button.disabled = search.busy
        state = len(tried) + 1000 * search.turn
        if state == self.tried:
            return
        self.tried = state
        found = None if search.busy else search.result
        self.picture.object = svg.search(tried, found) if tried and not search.busy else ""
        self.use.disabled = found is None
        if found is not None:
            self.said.object = say(found.sentence)
        elif search.error is not None:
            self.said.object = say(search.error, "trouble")

    def _use(self) -> None:
        """Give the rate to the run that trains, and to the runs to come."""
        found, session = self.store.search.result, self.store.session
        if found is None:
            return
        settings = {"lr": found.rate, "muon_lr": found.matrix_rate}
        self.store.settings = settings
        if session is not None and session.state in ("running", "paused"):
            self.store.change(settings)


class _Runs:
    """The tree of runs with a tick and a button to open each, what can be done with those that are ticked, and a chart.

    A run that is ticked stays in the list, whatever is searched for.
    """

    def __init__(self, store: TrainStore) -> None:
        self.store, self.read_at, self.drawn, self.most = store, 0.0, None, LISTED
        self.lines: dict[str, _Line] = {}
        where = store.runs.folder if store.runs is not None else "nowhere"
        self.none = html(NO_RUN)
        self.search = pmui.TextInput(
            label="search runs", placeholder="name, model, text, state …", size="small", visible=False,
            margin=(6, 10), width=320,
        )  # fmt: skip
        self.search.param.watch(lambda _: self._again(), "value_input")
        self.list = pn.Column(margin=0, sizing_mode="stretch_width")
        self.older = pmui.Button(label="Show older runs", icon="expand_more", visible=False, **SMALL)
        self.older.on_click(lambda _: self._show_older())
        self.ticked = _Ticked(store, self._again)
        self.chart, self.names, self.noise = kept_chart(), html(""), html("")
        picture = pn.pane.Bokeh(self.chart.figure, sizing_mode="stretch_width", margin=(0, 10))
        self.compared = pmui.Column(
            self.names, picture, self.noise, visible=False, margin=0, sizing_mode="stretch_width"
        )
        kept_in = html(say(f"Kept in {where}.", "quiet"))
        self.widgets = [
            self.none, self.search, self.list, self.older, self.ticked.column, self.compared, kept_in,
        ]  # fmt: skip

    def follow(self, session: Session | None) -> None:
        """Read the list now and then; draw what has changed."""
        ticked = [name for name, line in self.lines.items() if line.tick.value]
        if time.monotonic() - self.read_at < READ_EVERY and ticked == self.store.ticked:
            return
        self.read_at = time.monotonic()
        kept = self.store.kept()
        found = tree([run for run in kept if run.name in ticked or _matches(run, self.search.value_input or "")])
        listed = found[: self.most]
        if [run.name for _, run in listed] != list(self.lines):
            self.lines = {r.name: self.lines.get(r.name) or _Line(r, depth, self._open) for depth, r in listed}
            self.list.objects = [line.row for line in self.lines.values()]
        for _, run in listed:
            self.lines[run.name].show(run, run.name == self.store.name_of_run, session)
        self.none.object, self.search.visible = "" if kept else NO_RUN, bool(kept)
        left = len(found) - len(listed)
        self.older.param.update(visible=left > 0, label=f"Show older runs ({left:,} more)")
        some = [run for _, run in listed if run.name in ticked]
        self.ticked.show(some)
        self._compare(some, ticked)

    def _again(self) -> None:
        """Read the list at the next tick."""
        self.read_at = 0.0

    def _open(self, name: str) -> None:
        self.store.open(name)
        self._again()

    def _show_older(self) -> None:
        self.most += LISTED
        self._again()

    def _compare(self, runs: list[RunRow], ticked: list[str]) -> None:
        state = [(run.name, run.step, run.title) for run in runs]
        self.store.ticked = ticked
        if state == self.drawn:
            return
        self.drawn = state
        grouped = groups(runs)
        self.chart.show({name: held_out_curves(self.store, some) for name, some in grouped.items()})
        self.names.object = f'<div class="label">Held out, side by side</div>{legend(list(grouped))}'
        self.noise.object = say(noise(grouped))
        self.compared.visible = bool(runs)


class _Ticked:
    """What can be done with the runs that are ticked: call one otherwise, see it again as a page, delete them."""

    def __init__(self, store: TrainStore, renew: Callable[[], None]) -> None:
        self.store, self.renew, self.runs = store, renew, []
        self.rename = pmui.Button(label="Rename", icon="edit", **SMALL)
        self.delete = pmui.Button(label="Delete", icon="delete", **SMALL)
        self.replay = replay_button(store, lambda: self.runs[0].name if len(self.runs) == 1 else "")
        self.title = pmui.TextInput(label="title", max_length=LONGEST_TITLE, size="small", width=320, margin=(4, 10))
        self.asked = html("")
        self.sure = pmui.Button(label="Delete for good", icon="delete_forever", color="error", **SMALL)
        self.keep = pmui.Button(label="Keep", **SMALL)
        self.rename.on_click(lambda _: self._ask_title())
        self.title.param.watch(lambda event: self._rename(event.new), "value")
        self.delete.on_click(lambda _: self._ask())
        self.sure.on_click(lambda _: self._delete())
        self.keep.on_click(lambda _: self._close())
        self.question = pmui.Column(
            self.asked, pmui.Row(self.sure, self.keep, margin=(0, 6)), visible=False, margin=0,
            sizing_mode="stretch_width",
        )  # fmt: skip
        row = pn.FlexBox(self.rename, self.replay, self.delete, align_items="center", margin=(0, 6))
        self.column = pmui.Column(row, self.title, self.question, visible=False, margin=0, sizing_mode="stretch_width")
        self._close()

    def show(self, runs: list[RunRow]) -> None:
        """Offer what can be done with these runs; another choice takes an open question back."""
        if [run.name for run in runs] != [run.name for run in self.runs]:
            self._close()
        self.runs = runs
        self.column.visible = bool(runs)
        self.replay.filename = f"{runs[0].name if runs else 'run'}.html"
        for button in (self.rename, self.replay):
            if button.disabled != (len(runs) != 1):
                button.disabled = len(runs) != 1

    def _close(self) -> None:
        self.title.visible = self.question.visible = False

    def _ask_title(self) -> None:
        (run,) = self.runs
        self.title.param.update(label=f"title of {run.name}", value=run.shown, visible=True)

    def _rename(self, title: str) -> None:
        if self.title.visible and len(self.runs) == 1 and title != self.runs[0].shown:
            run = self.runs[0]
            self.store.rename(run.name, "" if title == run.name else title)
            self._close()
            self.renew()

    def _ask(self) -> None:
        names = ", ".join(run.shown for run in self.runs)
        forks = [fork.shown for fork in self.store.kept() if fork.parent in {run.name for run in self.runs}]
        told = (
            f" {', '.join(forks)} left {'it' if len(self.runs) == 1 else 'them'} and can still be used."
            if forks
            else ""
        )
        self.asked.object = say(f"Delete {names} with all checkpoints? This cannot be undone.{told}", "notice")
        self.question.visible = True

    def _delete(self) -> None:
        self.store.delete([run.name for run in self.runs])
        self._close()
        self.renew()


def replay_button(store: TrainStore, name: Callable[[], str]) -> Any:
    """A button that hands over a kept run, by default the one on screen, as a page that plays offline."""

    def made() -> io.BytesIO:
        try:
            return io.BytesIO(store.replay(name()))
        except Refusal as refusal:
            store.trouble = str(refusal)
            return io.BytesIO(str(refusal).encode())

    button = download(made, "run.html", "Replay", "Replay: the run up to its last checkpoint as one HTML file.")
    button.param.update(variant="outlined", margin=SMALL["margin"])
    return button


def _matches(run: RunRow, searched: str) -> bool:
    """Whether every word that is searched for stands in what the list says of a run."""
    said = f"{run.title} {run.name} {_facts(run, here=False)}".lower()
    return all(word in said for word in searched.lower().split())


class _Line:
    """One run of the list: a tick, what it is and how far it came, and the way back to it."""

    def __init__(self, run: RunRow, depth: int, act: Callable[[str], None]) -> None:
        self.tick = RunLine(label=run.shown, margin=(0, 10, 0, 4), sizing_mode="stretch_width")
        self.tick.param.watch(lambda _: act(run.name), "opened")
        self.knobs = _knobs(run)
        self.facts = html("", margin=(0, 10, 4, 27))
        edge = {"border-left": "2px solid #8886"} if depth else {}
        self.row = pn.Column(
            self.tick, self.facts, margin=(0, 6, 0, 8 + 22 * min(depth, 6)), sizing_mode="stretch_width", styles=edge
        )

    def show(self, run: RunRow, here: bool, session: Session | None) -> None:
        """What there is to say of it now; the run on screen can be opened again once it was stopped."""
        told = say(_facts(run, here), "quiet") + self.knobs
        if self.tick.label != run.shown:
            self.tick.label = run.shown
        if self.facts.object != told:
            self.facts.object = told
        off = here and session is not None and session.reason != "asked" and session.state != "failed"
        if self.tick.disabled != off:
            self.tick.disabled = off


def _facts(run: RunRow, here: bool) -> str:
    held_out = "not yet evaluated" if run.held_out is None else f"held out {run.held_out:.3f} nats{_of(run.entry)}"
    of = run.settings.get("recipe", {}).get("steps")
    steps = f"{run.step:,} of {of:,} steps" if of else f"{run.step:,} steps"
    state = STATES.get(run.state, run.state).format(run.step)
    said = [f"{run.entry} on {run.corpus}", f"seed {run.seed}", steps, held_out, state]
    if run.title:
        said.insert(0, run.name)
    if run.error:
        said.append(run.error)
    if run.parent:
        said.append(f"left {run.parent} at step {run.forked_at:,}: {run.changed}")
    elif run.changed:
        said.append(run.changed)
    return " · ".join([*said, "on screen"] if here else said)


@cache
def _of(entry: str) -> str:
    """Which of several questions the loss of a run is of; nothing where there is one, or the entry is not known."""
    try:
        questions = entry_named(entry).objective.questions
    except Refusal:
        return ""
    return f" ({questions[0]})" if len(questions) > 1 else ""


def _knobs(run: RunRow) -> str:
    """The knobs that are not as the model's entry has them, and folded away all others."""
    kinds = {kind: run.settings.get(kind, {}) for kind in ("objective", "recipe")}
    usual = _usual(run.entry)
    turned = {k: {n: v for n, v in knobs.items() if v != usual[k].get(n, v)} for k, knobs in kinds.items()}
    first = " · ".join(_told(kind, knobs) for kind, knobs in turned.items() if knobs)
    rest = "".join(say(_told(kind, knobs), "quiet") for kind, knobs in kinds.items() if knobs)
    return say(f"turned: {first}" if first else "", "quiet") + (
        f"<details><summary class='quiet'>all knobs</summary>{rest}</details>" if rest else ""
    )


def _usual(entry: str) -> dict[str, dict[str, Any]]:
    """The knobs of an entry as it is declared; nothing where this version does not know it."""
    try:
        return settings(entry_named(entry))
    except Refusal:
        return {"objective": {}, "recipe": {}}


def _told(kind: str, knobs: Mapping[str, Any]) -> str:
    written = (
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in knobs.items()
    )
    return f"{kind}: {', '.join(written)}"
