"""Train page: choose a model and a text, press Train, watch loss, guesses and attention move."""

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.corpora.sources import TABLES, TEXTS, TREEBANKS, sources
from playground.devices import available
from playground.inventory import entry_facts
from playground.rng import next_seed
from playground.trace.inputs import reads_two
from playground.training import Session
from playground.zoo import entries, entry_named
from playground.zoo.preset import RECIPE_PRESETS
from widgets.pages.corpus_knobs import corpus_knobs
from widgets.pages.curves import Picture
from widgets.pages.layout import Folding, bind, heading, limits, refuse_nothing
from widgets.pages.runs import replay_button
from widgets.state.train import AS_DECLARED, LONGEST_PASTE, OPENED, OWN_FILE, OWN_TEXT, TrainStore
from widgets.theme import GROWING, html, say

ROW_LENGTHS = {"as the recipe says": 0, **{str(tokens): tokens for tokens in (8, 16, 24, 32, 48, 64, 128, 256)}}
"""Tokens of one row of a batch."""


def page(
    store: TrainStore, looking: Callable[[], bool] = lambda: True, slow: Callable[[], None] | None = None
) -> tuple[Any, Any]:
    """The whole page, and the tick that keeps it alive; while nobody is `looking` nothing is drawn.

    `slow` shows the coming update of the run, stage by stage.
    """
    controls, buttons = _controls(store), _Buttons(store, slow)
    picture = Picture(store)

    def tick() -> None:
        store.advance()
        if looking():
            buttons.follow(store.session)
            picture.follow(store.session)

    whole = Folding(
        controls,
        [_earlier(store), *buttons.widgets, *picture.widgets],
        lambda: f"{store.entry} on {store.corpus_name}, {store.steps:,} steps",
    )
    store.param.watch(whole.say, ["entry", "corpus", "corpus_knobs", "steps"])
    return whole.pane, tick


def _controls(store: TrainStore) -> list[Any]:
    entry = pmui.Select(
        label="model", options=_models(store), value=store.entry, sizing_mode="stretch_width", margin=(6, 10)
    )
    store.param.watch(lambda _: entry.param.update(options=_models(store)), "entry")
    bind(entry, store, "entry")
    about = html(_about(store.entry))
    store.param.watch(lambda event: setattr(about, "object", _about(event.new)), "entry")
    names = [*sources(), OWN_TEXT, OWN_FILE, OPENED]
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
    upload.param.watch(lambda _: _keep(store, upload), "value")
    refuse_nothing(upload, lambda said: store.param.update(trouble=said))

    def show(event: Any) -> None:
        pasted.visible, upload.visible = event.new == OWN_TEXT, event.new == OWN_FILE

    store.param.watch(show, "corpus")
    sentence = pmui.TextInput(
        label="probe sentence", value=store.sentence, max_length=300, sizing_mode="stretch_width",
        margin=(6, 10), description="Empty: a held-out sentence of the text. It can be changed while the run goes on.",
    )  # fmt: skip
    bind(sentence, store, "sentence")
    pair = pmui.TextInput(
        label="second text to watch", value=store.pair, max_length=300, sizing_mode="stretch_width", margin=(6, 10),
        visible=_reads_two(store),
    )  # fmt: skip
    bind(pair, store, "pair")
    store.param.watch(lambda _: pair.param.update(visible=_reads_two(store)), "entry")
    plain = {"format": "0"}  # a number that changes its looks while it gets the focus would lose what is typed then
    seed = pmui.IntInput(
        label="seed", value=store.seed, **limits(store, "seed"), width=115, margin=(6, 4, 6, 10), **plain
    )
    bind(seed, store, "seed")
    steps = pmui.IntInput(
        label="steps", value=store.steps, **limits(store, "steps"), step=100, width=140, margin=(6, 10), **plain
    )
    bind(steps, store, "steps")
    seeds = pmui.IntInput(
        label="seeds", value=store.seeds, **limits(store, "seeds"), width=90, margin=(6, 4), **plain,
        description="With more than one, the others train beside the one on screen, in processes of their own.",
    )  # fmt: skip
    bind(seeds, store, "seeds")
    window = pmui.Select(
        label="tokens per row", options=ROW_LENGTHS, value=store.window, sizing_mode="stretch_width", margin=(6, 10),
        description="How many tokens stand in one row of a batch; a short corpus allows only short rows.",
    )  # fmt: skip
    bind(window, store, "window")
    way = pmui.Select(
        label="recipe",
        options=[AS_DECLARED, *RECIPE_PRESETS],
        value=store.way,
        sizing_mode="stretch_width",
        margin=(6, 10),
    )
    bind(way, store, "way")
    recipe = html(_recipe(store))
    store.param.watch(lambda *_: recipe.param.update(object=_recipe(store)), ["entry", "way", "settings"])
    device = pmui.Select(
        label="device", options=["auto", *available()], value=store.device, sizing_mode="stretch_width", margin=(6, 10)
    )
    bind(device, store, "device")
    return [
        heading("Model"), entry, about, heading("Text"), corpus, corpus_knobs(store), pasted, upload,
        sentence, pair, heading("Run"), pmui.Row(seed, seeds, margin=0), steps, window, way, recipe, device,
    ]  # fmt: skip


def _reads_two(store: TrainStore) -> bool:
    """Whether the objective that is trained reads a second text beside the first."""
    return reads_two(entry_named(store.entry).objective)


def _recipe(store: TrainStore) -> str:
    """What the recipe is, and what is turned beside it."""
    idea = (
        RECIPE_PRESETS[store.way].idea if store.way in RECIPE_PRESETS else "The recipe that the model's entry declares."
    )
    turned = ", ".join(f"{name} {value:.3g}" for name, value in store.settings.items())
    return say(idea, "quiet") + say(f"From the search for a rate: {turned}." if turned else "", "quiet")


def _models(store: TrainStore) -> list[str]:
    """The zoo, and what was painted on the Stage and brought here."""
    return list(dict.fromkeys((*entries(), store.entry)))


def _about(name: str) -> str:
    facts = entry_facts(entry_named(name))
    size = f"{facts['objective']}, {facts['parameters']:,} parameters at {facts['vocabulary']} words"
    notes = (facts["changed"], facts["differences"], size)
    return say(facts["idea"]) + "".join(say(note, "quiet") for note in notes if note)


def _earlier(store: TrainStore) -> pn.Column:
    """The run that this tab of the browser showed before the visit began, and the way back to it."""
    said = html("")
    button = pmui.Button(
        label="Reopen the run", icon="history", size="small", variant="outlined", margin=(0, 10, 8, 10)
    )
    button.on_click(lambda _: store.open(store.earlier))
    whole = pn.Column(said, button, visible=False, margin=0, sizing_mode="stretch_width")

    def show(*_: object) -> None:
        run = store.earlier_run()
        whole.visible = run is not None
        if run is not None:
            told = f"{run.name} was on this page before. It is kept, and was at step {run.step:,} when last written."
            said.object = say(told, "notice")

    store.param.watch(show, ["earlier", "session"])
    show()
    return whole


def _keep(store: TrainStore, upload: Any) -> None:
    """Hand an uploaded file over."""
    if upload.value:
        store.keep(str(upload.filename), upload.value)


class _Buttons:
    """The buttons from Train to Replay; each is on only where it does something."""

    def __init__(self, store: TrainStore, slow: Callable[[], None] | None = None) -> None:
        self.store, self._slow, self._shown = store, slow or (lambda: None), None
        make = {"size": "small", "margin": (4, 3), "variant": "outlined"}
        self.train = pmui.Button(label="Train", icon="play_arrow", color="primary", variant="contained", margin=(4, 3))
        self.pause = pmui.Button(label="Pause", icon="pause", **make)
        self.step = pmui.Button(label="Step", icon="skip_next", **make)
        self.slow = pmui.Button(
            label="Step through one update", icon="slow_motion_video", visible=slow is not None,
            description="Step through one update: the coming one, on the Stage page; the run waits meanwhile.", **make,
        )  # fmt: skip
        self.stop = pmui.Button(label="Stop", icon="stop", **make)
        self.reset = pmui.Button(label="Reset", icon="replay", **make)
        self.fresh = pmui.Button(label="New seed", icon="casino", **make)
        self.replay = replay_button(store, lambda: "")
        self.replay.visible = store.runs is not None
        acts = (self._train, self._pause, self._step, self._slow, self._stop, self._reset, self._fresh)
        for button, act in zip(self._all, acts, strict=True):
            button.on_click(lambda _, act=act: (act(), self.follow(self._session())))
        look = {"margin": (6, 7), "sizing_mode": "stretch_width", "stylesheets": [GROWING]}
        rows = pn.FlexBox(*self._all, self.replay, flex_wrap="wrap", **look)
        self.widgets = [rows]
        self.follow(store.session)

    @property
    def _all(self) -> tuple[Any, ...]:
        return (self.train, self.pause, self.step, self.slow, self.stop, self.reset, self.fresh)

    def _session(self) -> Session | None:
        return self.store.session

    def _train(self) -> None:
        session = self._session()
        if session is not None and session.state == "running":
            return  # pressed before the browser knew that it trains: no reason to begin another run
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
        self.store.seed = next_seed(self.store.seed)
        if (new := self.store.begin()) is not None:
            new.start()

    def follow(self, session: Session | None) -> None:
        """Show what can be pressed now."""
        state, others = session.state if session else "ready", self.store.siblings
        resumable = session is not None and (state == "paused" or (_waits(session) and session.learner is not None))
        learned = session is not None and session.learner is not None and session.learner.step > 0
        going = state in ("running", "paused") or (others is not None and others.state in ("running", "paused"))
        if self._shown == (state, resumable, learned, going):
            return
        self._shown = (state, resumable, learned, going)
        label = "Resume" if resumable else "Train"
        wanted = {
            self.train: state != "running",
            self.pause: state in ("running", "paused"),
            self.step: state != "running",
            self.slow: learned,
            self.stop: going,
            self.reset: state != "ready",
            self.fresh: True,
            self.replay: learned,
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
