"""Train page: choose a model and a text, press Train, watch loss, guesses and attention move."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import Range1d

from playground.analysis.gauges import GAUGES
from playground.analysis.glance import Glance, title
from playground.analysis.heads import Habit
from playground.catalog import find
from playground.corpora import Source
from playground.corpora.source import TABLES, TEXTS, TREEBANKS
from playground.devices import available, describe
from playground.inventory import entry_facts
from playground.training import Session
from playground.training.watched import Noticed
from playground.zoo import entries, entry_named
from playground.zoo.way import WAYS
from widgets.pages.layout import beside, bind, heading
from widgets.pages.runs import Tools
from widgets.store import LARGEST_FILE
from widgets.theme import figures, html, say
from widgets.training import AS_DECLARED, LONGEST_PASTE, OPENED, OWN_FILE, OWN_TEXT, TrainStore
from widgets.views import gauges, guesses
from widgets.views.attention import attention_chart
from widgets.views.film import film_strip
from widgets.views.loss import AXES, ESTIMATED, loss_chart, marks
from widgets.views.sizes import size_strips

WORDS = {
    "ready": "ready",
    "running": "training",
    "paused": "paused",
    "done": "finished",
    "failed": "stopped by an error",
}


def page(
    store: TrainStore, looking: Callable[[], bool] = lambda: True, slow: Callable[[], None] | None = None
) -> tuple[Any, Any]:
    """The whole page, and the tick that keeps it alive; only while somebody is `looking` the model is looked into.

    `slow` shows the coming update of the run, stage by stage.
    """
    controls, buttons = _controls(store), _Buttons(store, slow)
    picture, tick = _picture(store, buttons, looking)
    return _folding(store, controls, [*buttons.widgets, *picture]), tick


WIDE, NARROW = "@media (min-width: 901px)", "@media (max-width: 900px)"
SIDE = f"""
:host {{ flex: 1 1 250px; max-width: 300px !important; }}
{NARROW} {{ :host {{ flex: 1 1 100%; max-width: none !important; }} :host(.folded) {{ display: none !important; }} }}
"""


def _folding(store: TrainStore, controls: list[Any], picture: list[Any]) -> pn.FlexBox:
    """Controls beside the picture; on a narrow screen they fold above it, behind a button that says what is chosen."""
    side = pn.Column(*controls, stylesheets=[SIDE], css_classes=["folded"], margin=0)
    main = pmui.Column(
        *picture, styles={"flex": "1000 1 300px", "min-width": "0"}, margin=0, sizing_mode="stretch_width"
    )
    button = pmui.Button(icon="tune", size="small", variant="outlined", margin=(8, 10, 0, 10))

    def said(*_: object) -> None:
        chosen = f"{store.entry} on {store.corpus}, {store.steps:,} steps"
        button.label = f"{chosen}: change" if side.css_classes else "Fold the choices away"

    def turn(_: object) -> None:
        side.css_classes = [] if side.css_classes else ["folded"]
        said()

    button.on_click(turn)
    store.param.watch(said, ["entry", "corpus", "steps"])
    said()
    top = pn.Column(
        button,
        stylesheets=[f"{WIDE} {{ :host {{ display: none !important; }} }}"],
        styles={"flex": "1 1 100%"},
        margin=0,
    )
    return pn.FlexBox(
        top, side, main, flex_wrap="wrap", gap="6px 18px", align_items="flex-start", sizing_mode="stretch_width"
    )


def _controls(store: TrainStore) -> list[Any]:
    entry = pmui.Select(
        label="model", options=_models(store), value=store.entry, sizing_mode="stretch_width", margin=(6, 10)
    )
    store.param.watch(lambda _: entry.param.update(options=_models(store)), "entry")
    bind(entry, store, "entry")
    about = html(_about(store.entry))
    store.param.watch(lambda event: setattr(about, "object", _about(event.new)), "entry")
    names = [*find("playground.corpora", Source), OWN_TEXT, OWN_FILE, OPENED]
    corpus = pmui.Select(label="text", options=names, value=store.corpus, sizing_mode="stretch_width", margin=(6, 10))
    bind(corpus, store, "corpus")
    pasted = pmui.TextAreaInput(
        label="paste text here",
        rows=6,
        max_length=LONGEST_PASTE,
        visible=False,
        sizing_mode="stretch_width",
        margin=(6, 10),
    )
    pasted.param.watch(lambda event: setattr(store, "pasted", event.new), "value_input")
    upload = pmui.FileInput(
        label="choose a file", accept=",".join((*TEXTS, *TABLES, *TREEBANKS)), visible=False, margin=(6, 10)
    )
    upload.param.watch(lambda event: _keep(store, upload), "value")

    def show(event: Any) -> None:
        pasted.visible, upload.visible = event.new == OWN_TEXT, event.new == OWN_FILE

    store.param.watch(show, "corpus")
    sentence = pmui.TextInput(
        label="sentence to watch", value=store.sentence, max_length=300, sizing_mode="stretch_width",
        margin=(6, 10), description="Empty: a held-out sentence of the text.",
    )  # fmt: skip
    bind(sentence, store, "sentence")
    plain = {"format": "0"}  # a number that changes its looks while it gets the focus would lose what is typed then
    seed = pmui.IntInput(label="seed", value=store.seed, start=0, width=115, **plain, margin=(6, 4, 6, 10))
    bind(seed, store, "seed")
    steps = pmui.IntInput(
        label="steps", value=store.steps, start=1, end=20_000, step=100, width=115, margin=(6, 10), **plain
    )
    bind(steps, store, "steps")
    seeds = pmui.IntInput(
        label="seeds", value=store.seeds, start=1, end=20, width=90, margin=(6, 4), **plain,
        description="With more than one, the seeds are trained one after another; compare them under the runs.",
    )  # fmt: skip
    bind(seeds, store, "seeds")
    way = pmui.Select(
        label="recipe", options=[AS_DECLARED, *WAYS], value=store.way, sizing_mode="stretch_width", margin=(6, 10)
    )
    bind(way, store, "way")
    recipe = html(_recipe(store))
    store.param.watch(lambda _: recipe.param.update(object=_recipe(store)), ["entry", "way", "settings"])
    device = pmui.Select(
        label="device", options=["auto", *available()], value=store.device, sizing_mode="stretch_width", margin=(6, 10)
    )
    bind(device, store, "device")
    return [
        heading("Model"), entry, about, heading("Text"), corpus, pasted, upload, sentence,
        heading("Run"), pmui.Row(seed, seeds, margin=0), steps, way, recipe, device,
    ]  # fmt: skip


def _recipe(store: TrainStore) -> str:
    """What the recipe is, and what is turned beside it."""
    idea = WAYS[store.way].idea if store.way in WAYS else "The recipe that the model's entry declares."
    turned = ", ".join(f"{name} {value:.3g}" for name, value in store.settings.items())
    return say(idea, "quiet") + say(f"From the search for a rate: {turned}." if turned else "", "quiet")


def _models(store: TrainStore) -> list[str]:
    """The zoo, and what was painted on the Stage and brought here."""
    return list(dict.fromkeys((*entries(), store.entry)))


def _about(name: str) -> str:
    facts = entry_facts(entry_named(name))
    size = f"{facts['objective']}, {facts['parameters']:,} parameters at {facts['vocabulary']} words"
    return say(facts["idea"]) + say(facts["changed"], "quiet") + say(size, "quiet")


def _keep(store: TrainStore, upload: Any) -> None:
    """Put an uploaded file on disk, so that it is read as every other file is."""
    if not upload.value:
        return
    if len(upload.value) > LARGEST_FILE:
        store.trouble = f"The file has {len(upload.value):,} bytes; at most {LARGEST_FILE:,} are read here."
        return
    folder = Path(tempfile.mkdtemp(prefix="playground-"))
    path = folder / Path(str(upload.filename or "text.txt")).name
    path.write_bytes(upload.value)
    store.param.update(upload=path, trouble="")


class _Buttons:
    """Train, Pause, Step, Slow, Stop, Reset and New seed; each is on only where it can do something."""

    def __init__(self, store: TrainStore, slow: Callable[[], None] | None = None) -> None:
        self.store, self._slow = store, slow or (lambda: None)
        make = {"size": "small", "margin": (4, 3), "variant": "outlined"}
        self.train = pmui.Button(label="Train", icon="play_arrow", color="primary", variant="contained", margin=(4, 3))
        self.pause = pmui.Button(label="Pause", icon="pause", **make)
        self.step = pmui.Button(label="Step", icon="skip_next", **make)
        self.slow = pmui.Button(
            label="Slow", icon="slow_motion_video", visible=slow is not None,
            description="Slow: see the coming update from the inside, stage by stage.", **make,
        )  # fmt: skip
        self.stop = pmui.Button(label="Stop", icon="stop", **make)
        self.reset = pmui.Button(label="Reset", icon="replay", **make)
        self.fresh = pmui.Button(label="New seed", icon="casino", **make)
        acts = (self._train, self._pause, self._step, self._slow, self._stop, self._reset, self._fresh)
        for button, act in zip(self._all, acts, strict=True):
            button.on_click(lambda _, act=act: act())
        rows = pn.FlexBox(*self._all, flex_wrap="wrap", margin=(6, 7), sizing_mode="stretch_width")
        self.widgets = [rows]

    @property
    def _all(self) -> tuple[Any, ...]:
        return (self.train, self.pause, self.step, self.slow, self.stop, self.reset, self.fresh)

    def _session(self) -> Session | None:
        return self.store.session

    def _train(self) -> None:
        session = self._session()
        if session is not None and (session.state == "paused" or _waits(session)):
            session.start()
        elif (new := self.store.begin()) is not None:
            new.start()

    def _pause(self) -> None:
        if (session := self._session()) is not None:
            session.pause() if session.state == "running" else session.start()

    def _step(self) -> None:
        session = self._session()
        if session is None or session.state in ("done", "failed"):
            session = self.store.begin()
        if session is not None:
            session.step()

    def _stop(self) -> None:
        self.store.end()

    def _reset(self) -> None:
        self.store.begin()

    def _fresh(self) -> None:
        self.store.seed += 1
        if (new := self.store.begin()) is not None:
            new.start()

    def follow(self, session: Session | None) -> None:
        """Show what can be pressed now."""
        state = session.state if session else "ready"
        resumable = session is not None and (state == "paused" or (_waits(session) and session.learner is not None))
        learned = session is not None and session.learner is not None and session.learner.step > 0
        label = "Resume" if resumable else "Train"
        wanted = {
            self.train: state != "running",
            self.pause: state in ("running", "paused"),
            self.step: state != "running",
            self.slow: learned,
            self.stop: state in ("running", "paused"),
            self.reset: state != "ready",
            self.fresh: True,
        }
        for button, on in wanted.items():
            if button.disabled == on:
                button.disabled = not on
        if self.train.label != label:
            self.train.label = label


def _waits(session: Session) -> bool:
    """Whether the run is ready to begin, or to go on where it was left."""
    last = session.run.last
    return session.state == "ready" and not (last and session.learner and session.learner.step >= last)


def _picture(store: TrainStore, buttons: _Buttons, looking: Callable[[], bool]) -> tuple[list[Any], Any]:
    numbers, guessed = html(_numbers(None)), html(guesses.markup(None))
    curves, head, trouble = _Curves(store), _Head(), _Trouble(store)
    tools = Tools(store)
    shown: dict[str, Any] = {"session": None, "view": None}

    def tick() -> None:
        store.advance()
        session: Session | None = store.session
        trouble.follow(session)
        buttons.follow(session)
        if looking():
            tools.follow(session)
        if session is None:
            return
        if looking():
            session.watch()
        numbers.object = _numbers(session)
        if session is not shown["session"]:
            shown.update(session=session, view=None)
            guessed.object = guesses.markup(session.view)
        curves.follow(session)
        head.follow(session)
        if session.view is not None and session.view is not shown["view"]:
            shown["view"] = session.view
            guessed.object = guesses.markup(session.view)

    words = pmui.Column(heading("Guesses for one sentence"), guessed, margin=0, sizing_mode="stretch_width")
    pictures = beside(words, head.column)
    return [numbers, *trouble.widgets, *curves.loss_widgets, tools.column, *curves.widgets, pictures], tick


class _Trouble:
    """What went wrong, in a sentence; where a fork would help, the button that forks with what is suggested."""

    def __init__(self, store: TrainStore) -> None:
        self.store, self.said = store, html("")
        self.fork = pmui.Button(
            label="Fork", icon="fork_right", size="small", variant="outlined", margin=(0, 10, 8, 10), visible=False
        )
        self.fork.on_click(lambda _: self._fork())
        self.widgets = [self.said, self.fork]

    def follow(self, session: Session | None) -> None:
        """Show the sentence of the page, of the run, and its way out."""
        self.said.object = _trouble(self.store, session)
        settings = _way_out(session)
        self.fork.visible = bool(settings)
        if settings:
            told = ", ".join(f"{name} {value:.2g}" for name, value in settings.items())
            self.fork.label = f"Fork with {told}"

    def _fork(self) -> None:
        if settings := _way_out(self.store.session):
            self.store.fork(settings)


def _way_out(session: Session | None) -> dict[str, Any]:
    """The settings with which a run that lost its numbers could go on."""
    trouble = session.trouble if session is not None and session.state == "done" else None
    return dict(trouble.settings) if trouble is not None and trouble.kind == "numbers" else {}


class _Curves:
    """Loss and gauges, drawn from the rows that have come since."""

    def __init__(self, store: TrainStore) -> None:
        self.store, self.session, self.rows, self.measured, self.sized = store, None, 0, 0, 0
        self.loss = loss_chart()
        steps = Range1d(0, 1000)
        self.gauges, self.sizes = gauges.gauge_chart(steps), size_strips(steps)
        self.axis = pmui.Select(
            label="drawn over", options=list(AXES), value=store.axis, width=170, size="small", margin=(2, 10),
            description="Another axis changes the picture, never the data.",
        )  # fmt: skip
        bind(self.axis, store, "axis")
        self.key = html(self.loss.key, styles={"flex": "1 1 200px", "align-self": "center"}, margin=(4, 10, 0, 10))
        self.estimated = html("")
        store.param.watch(lambda event: self._turn(event.new), "axis")
        self._turn(store.axis)
        questions = "".join(say(f"{gauge.name}: {gauge.question} ({gauge.source})", "quiet") for gauge in GAUGES)
        explained = f"<details><summary>What is asked</summary>{questions}</details>"
        self.none = html(say("No gauge fits this text: their words are not in its vocabulary.", "quiet"), visible=False)
        self.loss_widgets = [
            pn.FlexBox(self.axis, self.key, flex_wrap="wrap", sizing_mode="stretch_width", margin=0),
            pn.pane.Bokeh(self.loss.figure, sizing_mode="stretch_width", margin=(0, 10)),
            self.estimated,
        ]
        strips = [pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=(0, 10)) for plot in self.sizes.figures]
        self.widgets = [
            heading("What it has understood, without being asked to learn it"),
            self.none,
            html(gauges.KEY),
            pn.pane.Bokeh(self.gauges.figure, sizing_mode="stretch_width", margin=(0, 10)),
            html(explained),
            heading("Inside the layers: how hard the loss pulls, how far a step moves them"),
            beside(*strips),
        ]

    def _turn(self, axis: str) -> None:
        self.loss.over(axis)
        self.estimated.object = say(ESTIMATED.get(axis, ""), "quiet")
        self._limits()

    def _limits(self) -> None:
        session = self.session
        if session is not None:
            run, last = session.run, session.rows[-1] if session.rows else None
            self.loss.limits(last, run.last, session.unigram_entropy, run.entry.bound(run.corpus))
            self.gauges.figure.x_range.end = run.last or max(100, last.step if last else 0)
            self.key.object = self.loss.key

    def follow(self, session: Session) -> None:
        """Append what is new of a session; another session begins an empty picture."""
        if session is not self.session:
            self.session, self.rows, self.measured, self.sized = session, 0, 0, 0
            self.loss.clear()
            self.gauges.clear()
            self.sizes.clear()
        rows, measured = session.rows[self.rows :], session.measured[self.measured :]
        if rows:
            self.rows += len(rows)
            self.loss.extend(rows)
        if measured:
            self.measured += len(measured)
            self.gauges.extend(measured)
            self.none.visible = not measured[-1].gauges
        if sized := session.sizes[self.sized :]:
            self.sized += len(sized)
            self.sizes.extend(sized, session.run.sizes_every)
        noticed = [n.step for n in session.noticed]
        if len(noticed) != len(self.loss.marks.data["step"]):
            self.loss.marks.data = marks(session.rows, noticed)
        self._limits()


class _Head:
    """One attention head of the sentence that is watched, and the bookmarks of heads that learnt to do something."""

    def __init__(self) -> None:
        self.chart, self.caption = attention_chart(), html("")
        self.strip, self.marked = film_strip(), None
        self.filmed: Any = None
        self.matrix = pmui.Select(label="matrix", options=["encoder"], value="encoder", width=150, margin=(4, 4))
        self.layer = pmui.IntInput(label="layer", value=1, start=1, end=2, width=90, margin=(4, 4))
        self.head = pmui.IntInput(label="head", value=1, start=1, end=4, width=90, margin=(4, 4))
        self.bookmarks = pmui.Row(margin=(0, 6), styles={"flex-wrap": "wrap"})
        self.session: Session | None = None
        self.drawn: tuple[Any, Any] = (None, None)
        picture = pn.pane.Bokeh(self.chart.figure, sizing_mode="stretch_width")
        self.column = pmui.Column(
            heading("One attention head"), pmui.Row(self.matrix, self.layer, self.head, margin=(0, 6)), self.bookmarks,
            picture, self.caption, heading("The same head while it learnt"),
            pn.pane.Bokeh(self.strip.figure, sizing_mode="stretch_width", margin=(0, 10)),
            margin=0, sizing_mode="stretch_width",
        )  # fmt: skip

    def follow(self, session: Session) -> None:
        """Draw the head that is picked as it is now, and a bookmark for each pattern that was noticed."""
        if session is not self.session:
            self.session, self.drawn, self.filmed, self.marked = session, (None, None), None, None
            self.bookmarks.objects = []
        for noticed in session.noticed[len(self.bookmarks.objects) :]:
            self.bookmarks.append(self._bookmark(noticed))
        view, picked = self._shown(session), (self.matrix.value, self.layer.value, self.head.value)
        if view is None:
            return
        self._film(session, picked)
        if view is self.drawn[0] and picked == self.drawn[1]:
            return
        self.drawn = (view, picked)
        _fit(view, self.matrix, self.layer, self.head)
        darkest = self.chart.show(view, self.matrix.value, self.layer.value - 1, self.head.value - 1)
        back = " Press the bookmark again to see it as it is now." if self.marked is not None else ""
        self.caption.object = say(
            f"{title(self.matrix.value)}. After step {view.step}; the darkest cell weighs {darkest:.2f}.{back}", "quiet"
        )

    def _shown(self, session: Session) -> Glance | None:
        """The head as it is now, or as it was at the bookmark that was pressed."""
        return dict(session.film).get(self.marked, session.view)

    def _film(self, session: Session, picked: tuple[str, int, int]) -> None:
        """Draw the strip anew where it has grown, or another head or moment is picked."""
        wanted = (len(session.film), picked, self.marked)
        if session.film and wanted != self.filmed:
            self.filmed = wanted
            matrix, layer, head = picked
            self.strip.show(session.film, matrix, layer - 1, head - 1, self.marked)

    def _bookmark(self, noticed: Noticed) -> Any:
        habit = noticed.habit
        button = pmui.Button(
            label=f"step {noticed.step}: {habit.pattern.name}", icon="bookmark", size="small", variant="outlined",
            margin=(2, 4), color="secondary",
            description=f"Layer {habit.layer + 1}, head {habit.head + 1} {habit.pattern.does}: {habit.weight:.0%} of "
            f"its weight, where looking everywhere alike would give {habit.chance:.0%}.",
        )  # fmt: skip
        button.on_click(lambda _: self._pick(noticed.step, habit))
        return button

    def _pick(self, step: int, habit: Habit) -> None:
        """Jump to the moment of a bookmark and to its head; pressed again, back to now."""
        there = (self.matrix.value, self.layer.value - 1, self.head.value - 1)
        again = self.marked == step and there == (habit.matrix, habit.layer, habit.head)
        self.marked = None if again else step
        self.matrix.value = habit.matrix
        self.layer.value, self.head.value = habit.layer + 1, habit.head + 1


def _fit(view: Glance, matrix: Any, layer: Any, head: Any) -> None:
    """Offer the matrices, layers and heads that this model has."""
    names = list(view.weights)
    if matrix.options != names:
        matrix.param.update(options=names, value=matrix.value if matrix.value in names else names[0])
    layers, heads = view.weights[matrix.value].shape[:2]
    if (layer.end, head.end) != (layers, heads):
        layer.end, head.end = layers, heads


def _trouble(store: TrainStore, session: Session | None) -> str:
    failed = session.error if session is not None else ""
    trouble = session.trouble if session is not None else None
    kind = "notice" if trouble is not None and trouble.kind == "memory" else "trouble"
    return say(store.trouble, "trouble") + say(failed, "trouble") + say(trouble.sentence if trouble else "", kind)


def _numbers(session: Session | None) -> str:
    if session is None:
        return figures(
            {"state": "ready", "step": "0", "loss (nats)": "–", "held out (nats)": "–", "tokens/s": "–", "device": "–"}
        )
    rows = list(session.rows)
    stepped = [r for r in rows[-40:] if r.loss is not None]
    losses = [r.loss for r in stepped if r.loss is not None]
    more = {f"{name} (nats)": f"{value:.3f}" for name, value in (stepped[-1].more if stepped else ())}
    tested = next((r.held_out for r in reversed(rows) if r.held_out is not None), None)
    last = rows[-1] if rows else None
    return figures(
        {
            "state": WORDS[session.state],
            "step": f"{last.step if last else 0} of {session.run.last}",
            "loss (nats)": f"{sum(losses) / len(losses):.3f}" if losses else "–",
            "held out (nats)": f"{tested:.3f}" if tested is not None else "–",
            **more,
            "tokens/s": f"{last.tokens / last.seconds:,.0f}" if last and last.seconds else "–",
            "device": f"{describe(session.run.device)}, seed {session.run.seed}",
        }
    )
