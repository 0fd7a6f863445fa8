"""Train page: choose a model and a text, press Train, and watch loss, predictions and attention."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.corpora.sources import TABLES, TEXTS, TREEBANKS, sources
from playground.devices import available
from playground.errors import UserError
from playground.inventory import entry_facts
from playground.objectives.mask_overrides import describe_kinds
from playground.rng import next_seed
from playground.trace.inputs import reads_two
from playground.training import Session
from playground.training.fork import describe_recipe
from playground.zoo import entry_named
from playground.zoo.preset import RECIPE_PRESETS
from widgets.pages.knobs import corpus_knobs, model_knobs
from widgets.pages.layout import (
    FIELD,
    MAIN,
    STRETCH,
    Sidebar,
    View,
    accordion,
    button,
    column,
    heading,
    number,
    row,
    upload,
)  # fmt: skip
from widgets.pages.menus import model_choice, own_first
from widgets.pages.train.curriculum import CurriculumEditor
from widgets.pages.train.curves import RunPicture
from widgets.pages.train.runs import replay_button
from widgets.state.curriculum_editor import CurriculumEditorStore
from widgets.state.train import choice, extra_seeds, saved_runs
from widgets.state.train.choice import LONGEST_PASTE, OPENED, OWN_FILE, OWN_TEXT
from widgets.state.train.store import CHOICES, TrainStore
from widgets.theme import GROWING, html, say


class TrainPage(View):
    """A run and its choices; nothing is drawn off screen (`looking`), `slow` shows the next update in steps."""

    def __init__(
        self, train: TrainStore, looking: Callable[[], bool] = lambda: True, slow: Callable[[], None] | None = None
    ) -> None:
        self.train, self.looking = train, looking
        self.buttons, self.picture = RunButtons(train, slow), RunPicture(train)
        earlier = RunThatIsThere(
            train, ["earlier", "session"], lambda: _earlier(train),
            "Reopen the run", lambda: train.open(train.earlier), "history",
        )  # fmt: skip
        open_ready_made = partial(saved_runs.open_ready_made, train)
        ready_made = RunThatIsThere(
            train, CHOICES, lambda: _ready_made(train), "Open the ready-made run", open_ready_made, "inventory_2"
        )
        sidebar = Sidebar(
            _choices(train), [earlier, ready_made, self.buttons, self.picture],
            lambda: f"{_model(train)} on {train.corpus_name}, {train.steps:,} steps",
        )  # fmt: skip
        train.param.watch(sidebar.label, ["entry", "mask_overrides", "corpus", "corpus_knobs", "steps"])
        super().__init__(sidebar.layout)

    def poll(self) -> None:
        extra_seeds.advance(self.train)
        if self.looking():
            self.buttons.poll()
            self.picture.poll()


def _choices(train: TrainStore) -> list[Any]:
    chosen, plain = train.param, {"format": "0"}  # a field that changed its format on focus would lose what is typed
    paste = {"rows": 6, "max_length": LONGEST_PASTE, "onkeyup": True}
    asked = (chosen.corpus, chosen.encoding, chosen.unreadable)
    encoded = pn.bind(lambda corpus, *encodings: corpus == OWN_FILE and any(encodings), *asked)
    second = pn.bind(lambda entry: reads_two(entry_named(entry).objective), chosen.entry)
    seed = number(chosen.seed, width=115, margin=(6, 4, 6, 10), **plain)
    seeds = number(chosen.seeds, width=90, margin=(6, 4), **plain)
    return [
        heading("Model"), model_choice(chosen.entry, **FIELD),
        html(pn.bind(lambda *_: _about(train), chosen.entry, chosen.mask_overrides, chosen.preset, chosen.shapes)),
        accordion({
            "Size and parts of the model": lambda: model_knobs(train),
            "Paint a curriculum": lambda: CurriculumEditor(CurriculumEditorStore(), train),
            "How it differs from the paper": lambda: html(
                pn.bind(lambda name: say(entry_named(name).not_the_paper), chosen.entry)
            ),
        }),
        heading("Data"),
        pmui.Select.from_param(chosen.corpus, groups=own_first([OWN_TEXT, OWN_FILE, OPENED], sources()), **FIELD),
        corpus_knobs(train),
        column(
            lambda: pmui.TextAreaInput.from_param(chosen.pasted, **paste, **FIELD),
            visible=chosen.corpus.rx() == OWN_TEXT,
        ),
        column(lambda: _file(train), visible=chosen.corpus.rx() == OWN_FILE),
        column(lambda: pmui.Select.from_param(chosen.encoding, **FIELD), visible=encoded),
        pmui.TextInput.from_param(chosen.sentence, max_length=300, **FIELD),
        column(lambda: pmui.TextInput.from_param(chosen.pair, max_length=300, **FIELD), visible=second),
        heading("Run"), row(seed, *([] if train.quota.shared else [seeds])),
        number(chosen.steps, width=140, margin=(6, 10), **plain),
        pmui.Select.from_param(chosen.window, **FIELD), pmui.Select.from_param(chosen.preset, **FIELD),
        html(pn.bind(_recipe, chosen.entry, chosen.preset, chosen.settings)),
        pmui.Select.from_param(chosen.device, options=["auto", *available()], **FIELD),
    ]  # fmt: skip


def _file(train: TrainStore) -> Any:
    refuse = partial(setattr, train, "trouble")
    accept = ",".join((*TEXTS, *TABLES, *TREEBANKS))
    return upload("choose a file", lambda files: train.keep(*files[0]), refuse, accept=accept)


def _recipe(entry: str, name: str, settings: Mapping[str, float]) -> str:
    ideas = ["The network of its paper, and Muon as the optimiser, because tiny models learn faster with it."]
    if name in RECIPE_PRESETS:
        ideas = [RECIPE_PRESETS[name].idea, describe_recipe(entry_named(entry), name)]
    turned = ", ".join(f"{knob} {value:.3g}" for knob, value in settings.items())
    return say(" ".join(ideas), "quiet") + say(f"From the search for a rate: {turned}." if turned else "", "quiet")


def _model(train: TrainStore) -> str:
    return f"{train.entry} {describe_kinds(train.mask_overrides)}".strip()


def _about(train: TrainStore) -> str:
    try:
        facts = entry_facts(choice.shaped(train))
    except UserError as refused:
        return say(str(refused), "notice")
    size = f"{facts['objective']}, {facts['parameters']:,} parameters (vocabulary of {facts['vocabulary']})"
    notes = (facts["changed"], size)
    return say(facts["idea"]) + "".join(say(note, "quiet") for note in notes if note)


class RunThatIsThere(View):
    """A sentence about a run that is there already, and the way to it, as long as no run is on screen."""

    def __init__(self, train: TrainStore, watched: list[str], notice: Callable[[], str], *press: Any) -> None:
        self.train, self.notice, self.text = train, notice, html("")
        opened = button(*press, margin=(0, 10, 8, 10))
        super().__init__(column(self.text, opened, visible=False))
        train.param.watch(self._show, watched)
        self._show()

    def _show(self, *_: object) -> None:
        notice = self.notice() if self.train.session is None else ""
        self.text.object, self.layout.visible = say(notice, "notice"), bool(notice)


def _earlier(train: TrainStore) -> str:
    """The run that this tab of the browser showed before the visit began."""
    run = next((run for run in train.kept() if run.name == train.earlier), None)
    where = "{} was on this page before. It is kept, and was at step {:,} when last written."
    return where.format(run.name, run.step) if run is not None else ""


def _ready_made(train: TrainStore) -> str:
    """That what is chosen is there ready-made, before it is trained."""
    made = saved_runs.ready_made_run(train)
    return f"{made.title}: this run exists already, as the checkpoint {made.name}." if made is not None else ""


class RunButtons(View):
    """The buttons from Train to Save as HTML; each is on only where it does something."""

    def __init__(self, train: TrainStore, slow: Callable[[], None] | None = None) -> None:
        self.state = train
        self.train = self._button("Train", self._train, "play_arrow", **MAIN)
        self._resumes(False)
        self.pause = self._button("Pause", self._pause, "pause", css_classes=["command-pause"])
        self.step = self._button("Step", self._step, "skip_next", css_classes=["command-step"])
        self.slow = self._button(
            "Step through one update", slow or (lambda: None), "slow_motion_video", visible=slow is not None,
            description="Step through one update: the next one, on the Stage page; the run waits.",
        )  # fmt: skip
        self.stop = self._button("Stop", train.end, "stop")
        self.reset = self._button("Reset", train.begin, "replay", css_classes=["command-reset"])
        self.fresh = self._button("New seed", self._new_seed, "casino", css_classes=["command-new-seed"])
        self.replay = replay_button(train, lambda: "")
        parts = (self.train, self.pause, self.step, self.slow, self.stop, self.reset, self.fresh, self.replay)
        look = {"margin": (4, 7, 0, 7), "stylesheets": [GROWING]}
        super().__init__(row(*parts, **look, **STRETCH))
        self.poll()

    def _button(self, label: str, act: Callable[[], Any], icon: str, **looks: Any) -> pmui.Button:
        def press() -> None:
            act()
            self.poll()

        return button(label, press, icon, **{"margin": (4, 3), **looks})

    def _resumes(self, resumable: bool) -> None:
        """The label of the first button, and the command by which a key finds it."""
        label, command = ("Resume", "resume") if resumable else ("Train", "train")
        self.train.param.update(label=label, css_classes=[f"command-{command}"])

    def _train(self) -> None:
        session: Session | None = self.state.session
        if session is not None and session.state == "running":
            return  # pressed before the browser knew that it trains: no reason to begin another run
        if session is not None and (session.state == "paused" or _waits(session)):
            session.start()
        else:
            self._begin()

    def _begin(self) -> None:
        if (session := self.state.begin()) is not None:
            session.start()

    def _pause(self) -> None:
        if (session := self.state.session) is not None:
            session.pause() if session.state == "running" else session.start()

    def _step(self) -> None:
        session = self.state.session
        if session is None or session.state in ("done", "failed"):
            session = self.state.begin()
        if session is not None:
            session.step()

    def _new_seed(self) -> None:
        self.state.seed = next_seed(self.state.seed)
        self._begin()

    def poll(self) -> None:
        session, others = self.state.session, extra_seeds.siblings(self.state)
        state = session.state if session else "ready"
        resumable = session is not None and (state == "paused" or (_waits(session) and session.learner is not None))
        learned = session is not None and session.learner is not None and session.learner.step > 0
        going = state in ("running", "paused") or (others is not None and others.state in ("running", "paused"))
        self.train.disabled = self.step.disabled = state == "running"
        self._resumes(resumable)
        self.pause.disabled = state not in ("running", "paused")
        self.slow.disabled = self.replay.disabled = not learned
        self.stop.disabled, self.reset.disabled = not going, state == "ready"


def _waits(session: Session) -> bool:
    last = session.run.last
    return session.state == "ready" and not (last and session.learner and session.learner.step >= last)
