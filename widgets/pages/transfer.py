"""Transfer page: fine-tune one pre-trained model in several ways at once; what each gains, forgets and costs."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.corpora.sources import TABLES, TREEBANKS
from playground.errors import Refusal
from playground.finetuning import tasks
from playground.finetuning.comparing.budget_matching import MATCHES, RATES, said_of_published
from playground.finetuning.comparing.compare import mixed_levels
from playground.finetuning.data.input_format import PACKINGS
from playground.finetuning.report.page import FILES
from playground.finetuning.run.trainer import SEEN
from playground.training.parallel.workers import spare
from widgets.charts import label_efficiency, strategies_over_steps
from widgets.charts.outcomes import outcome_chart
from widgets.lists.strategy_picker import cards, chooser
from widgets.pages.layout import Folding, beside, bind, heading, limits, refuse_nothing
from widgets.pages.run_task_matrix import choice
from widgets.pages.sentence_editor import desk
from widgets.pages.strategy_editor import editor
from widgets.state.app import Store
from widgets.state.base_changes import CHANGES
from widgets.state.strategy_editor import DraftStore
from widgets.state.transfer import OWN_FILE, TURN_FILES, Course, TransferStore, latest
from widgets.static import comparison, model_diagram, svg, task_sequence
from widgets.theme import html, say

COUNTS = [16, 32, 64, 128, 256, 512]

QUESTIONS: dict[str, dict[str, Any]] = {
    "Is pre-training worth it?": {
        "chosen": ["random start", "full"], "then": [], "task": "sentiment", "labels": 16,
        "counts": [32, 64, 128, 256], "seeds": 3, "steps": 80, "match": "steps", "rates": "own",
    },
    "What is forgotten?": {
        "chosen": ["full", "gradual unfreezing", "L2-SP", "EWC", "adapters"], "then": [], "task": "sentiment",
        "labels": 64, "counts": [], "seeds": 3, "steps": 80, "match": "steps", "rates": "own",
    },
    "Do the model's own weights change?": {
        "chosen": ["full", "feature-based", "adapters", "LoRA", "BitFit"], "then": [], "task": "sentiment",
        "labels": 64, "counts": [], "seeds": 2, "steps": 80, "match": "steps", "rates": "own",
    },
    "What does a second task do to the first?": {
        "chosen": ["full", "EWC", "replay", "adapters"], "task": "sentiment", "then": ["entailment"], "labels": 128,
        "counts": [], "seeds": 2, "steps": 80, "match": "steps", "rates": "own",
    },
}  # fmt: skip
"""Questions to begin with, each with all that is chosen for it; one click asks it."""


def page(store: Store) -> tuple[Any, Any]:
    """The whole page, and the tick that keeps it alive."""
    transfer = store.transfer
    compare = pmui.Button(label="Compare", icon="compare_arrows", color="primary", variant="contained", margin=(6, 10))
    compare.on_click(lambda _: transfer.begin(store.base))
    stop = pmui.Button(label="Stop", icon="stop", variant="outlined", size="small", margin=(6, 3), disabled=True)
    stop.on_click(lambda _: transfer.end())
    halt = pmui.Button(label="Stop", icon="stop", variant="outlined", size="small", margin=(8, 3, 0, 3), visible=False)
    halt.on_click(lambda _: transfer.end())
    quick = pmui.Button(
        label="Train one here", icon="model_training", variant="outlined", size="small", margin=(6, 10),
        description="Train one here: with what is chosen on the Train page; this page stays and says how far it is.",
    )  # fmt: skip
    quick.on_click(lambda _: store.train_one())
    base = html("")
    asking = _questions(store)
    before, what = _before(transfer)
    trouble = html("")
    helps = pmui.Button(icon="model_training", variant="outlined", size="small", margin=(0, 10, 6, 10), visible=False)
    helps.on_click(lambda _: store.train_base())
    controls = [
        heading("Base model"), _bases(store), base, quick, before, what, pmui.Row(compare, stop, margin=0), trouble,
        helps,
        heading("Or begin with a question"), *asking, *_controls(store),
    ]  # fmt: skip
    more = (
        desk(store.sentence, transfer, lambda: store.base),
        choice(store.choosing, store.train, store.take_run_on_screen),
    )
    picture, follow = _picture(transfer, more)

    def tick() -> None:
        base.object = _base(store)
        trouble.object = say(transfer.trouble, "trouble") + say(transfer.notice, "notice")
        text = transfer.text_for_base if transfer.unknown_words else ""
        offered = "this file" if isinstance(text, Path) else text
        helps.param.update(visible=bool(text), label=f"Train a base on {offered}")
        running = transfer.state == "running"
        if running and stop.disabled:
            whole.fold()  # what was asked for is seen
        stop.disabled, halt.visible = not running, running
        for button in (compare, *asking):
            button.disabled = running
        training, session = store.train.session, store.base
        quick.disabled = training is not None and training.state == "running"
        if session is not None and session.learner is not None:
            transfer.layers = session.learner.model.shape.layers
        follow()

    whole = Folding(
        controls, picture, lambda: f"{transfer.task}, {len(transfer.chosen)} strategies", folded=False, near=halt
    )
    transfer.param.watch(whole.say, ["task", "chosen"])
    return whole.pane, tick


def _bases(store: Store) -> Any:
    """Whose model is fine-tuned; runs that came meanwhile are offered when somebody comes to the page."""
    base = pmui.Select(
        label="base model", options=store.bases(), value=store.transfer.base, sizing_mode="stretch_width",
        margin=(6, 10),
    )  # fmt: skip
    bind(base, store.transfer, "base")

    def renew(*_: Any) -> None:
        if store.page != 2:
            return
        offered = store.bases()
        chosen = store.transfer.base if store.transfer.base in offered.values() else ""
        base.param.update(options=offered, value=chosen)

    store.param.watch(renew, "page")
    store.train.param.watch(renew, "session")
    return base


def _base(store: Store) -> str:
    session = store.base
    if store.train.trouble:
        return say(store.train.trouble, "trouble")
    if session is None or not session.rows:
        return say(f"None yet. Train {store.train.entry} on {store.train.corpus_name} first.", "notice")
    step = session.rows[-1].step
    name = f"{session.run.entry.name} on {session.run.corpus.name}, step {step} of {session.run.last}"
    resting = "Comparing pauses its training." if session.state == "running" else ""
    return say(name) + say(resting, "quiet")


def _before(store: TransferStore) -> tuple[Any, Any]:
    """What is done to the base before anything is compared, and what that is good for."""
    before = pmui.Select(
        label="base modification",
        options=list(CHANGES),
        value=store.before,
        sizing_mode="stretch_width",
        margin=(6, 10),
    )
    bind(before, store, "before")
    what = html(say(CHANGES[store.before], "quiet"))
    store.param.watch(lambda _: what.param.update(object=say(CHANGES[store.before], "quiet")), "before")
    return before, what


def _questions(store: Store) -> list[Any]:
    """A button for every question: it chooses all that is needed and begins; a file of one's own stays the task."""
    look = {"variant": "outlined", "size": "small", "sizing_mode": "stretch_width", "margin": (3, 10)}

    def ask(name: str) -> None:
        own = store.transfer.task == OWN_FILE
        store.transfer.param.update(**{what: v for what, v in QUESTIONS[name].items() if not (own and what == "task")})
        store.transfer.begin(store.base)

    buttons = [pmui.Button(label=name, **look) for name in QUESTIONS]
    for button in buttons:
        button.on_click(lambda event: ask(event.obj.label))
    return buttons


def _controls(visit: Store) -> list[Any]:
    store = visit.transfer
    wide = {"sizing_mode": "stretch_width", "margin": (6, 10)}
    task = pmui.Select(label="task", options=[*tasks(), OWN_FILE], value=store.task, **wide)
    then = pmui.MultiChoice(label="then fine-tune on", options=list(tasks()), value=list(store.then), **wide)
    packing = pmui.Select(label="input format", options=PACKED, value=store.packing, **wide)
    chosen = chooser(cards=cards(store.own), value=list(store.chosen), margin=(4, 10))
    store.param.watch(lambda _: chosen.param.update(cards=cards(store.own)), "own")
    labels = pmui.Select(label="labelled texts", options=COUNTS, value=store.labels, **wide)
    counts = pmui.MultiChoice(label="and also with", options=COUNTS, value=list(store.counts), **wide)
    seeds = pmui.IntSlider(label="seeds", **limits(store, "seeds"), value=store.seeds, **wide)
    steps = pmui.IntSlider(label="steps", **limits(store, "steps"), step=10, value=store.steps, **wide)
    match = pmui.Select(label="match the budget by", options=list(MATCHES), value=store.match, **wide)
    rates = pmui.Select(label="learning rates", options=list(RATES), value=store.rates, **wide)
    places = pmui.Select(label="execution", options=_places(), value=store.workers, **wide)
    bound = {"task": task, "then": then, "chosen": chosen, "labels": labels, "counts": counts, "seeds": seeds,
             "steps": steps, "workers": places, "match": match, "rates": rates, "packing": packing}  # fmt: skip
    for name, widget in bound.items():
        bind(widget, store, name)

    def in_turn(*_: Any) -> None:
        counts.disabled = match.disabled = places.disabled = bool(store.then)

    store.param.watch(in_turn, "then")
    in_turn()
    why = html(_fair(store))
    store.param.watch(lambda *_: why.param.update(object=_fair(store)), ["match", "rates", "chosen", "own", "then"])
    return [
        heading("Task"), task, _file(store), _idea(store), then, packing, heading("Strategies"), chosen,
        _others(visit),
        heading("How much"), labels, counts, seeds, steps, places, heading("Fair"), match, rates, why,
    ]  # fmt: skip


def _places() -> dict[str, int]:
    """Where the lanes may run: one after another before one's eyes, or side by side on the cores of this machine."""
    cores = spare(0)
    beside_each_other = {f"side by side, in {cores} processes": cores} if cores > 1 else {}
    return {"one by one, seen step by step": 1} | beside_each_other


PACKED = {"as suits the model": "", **{name: name for name in PACKINGS}}
"""The ways of making one row of a text or a pair, as they are named on screen."""


def _idea(store: TransferStore) -> Any:
    """What the chosen task asks, how it is measured, and what was guessed about a file."""

    def told() -> str:
        try:
            task = store.known
        except Refusal as refusal:
            return say(refusal, "quiet")
        return say(f"{task.idea} Measured: {task.metric}.", "quiet") + say(task.notice, "notice")

    idea = html(told())
    store.param.watch(lambda *_: idea.param.update(object=told()), ["task", "own_file", "text_column", "label_column"])
    return idea


def _file(store: TransferStore) -> Any:
    """Where a labelled file is chosen, and which of its columns are the text and the label."""
    upload = pmui.FileInput(label="choose a file", accept=",".join((*TABLES, *TREEBANKS)), margin=(6, 10))
    upload.param.watch(lambda _: upload.value and store.upload(str(upload.filename), upload.value), "value")
    refuse_nothing(upload, lambda said: store.param.update(trouble=said))
    columns = pmui.Column(margin=0, sizing_mode="stretch_width")
    box = pmui.Column(upload, columns, visible=False, margin=0, sizing_mode="stretch_width")

    def show(*_: Any) -> None:
        box.visible = store.task == OWN_FILE
        columns[:] = _columns(store)

    store.param.watch(show, ["task", "own_file"])
    show()
    return box


def _columns(store: TransferStore) -> list[Any]:
    """A choice for each of the two columns, made anew for every file: one that stands would keep its first guess."""
    try:
        table = store.table
    except Refusal:  # said below the task
        table = None
    if table is None:
        return []

    def chosen(name: str, kept: str, guess: str | None) -> Any:
        others = {column: column for column in table.columns if column != guess}
        options = {f"{guess} (guessed)" if guess else "none (guessed)": ""} | others
        wide = {"sizing_mode": "stretch_width", "margin": (6, 10)}
        select = pmui.Select(label=name, options=options, value=getattr(store, kept), **wide)
        select.param.watch(lambda event: store.param.update(**{kept: event.new}), "value")
        return select

    return [
        chosen("column with the text", "text_column", table.text_column),
        chosen("column with the label", "label_column", table.label_column),
    ]


NO_OTHER_RUN = say("No other run is kept; train one on the same corpus.", "quiet")


def _others(visit: Store) -> Any:
    """The kept runs whose vectors are read beside those of the base, while a strategy that reads them is chosen."""
    store, none = visit.transfer, html("")
    runs = pmui.MultiChoice(
        label="extra feature extractors", value=list(store.beside), sizing_mode="stretch_width", margin=(6, 10)
    )
    bind(runs, store, "beside")
    box = pmui.Column(runs, none, visible=False, margin=0, sizing_mode="stretch_width")

    def show(*_: Any) -> None:
        box.visible = store.reads_others
        if box.visible:
            here = visit.train.name_of_run
            runs.options = [run.name for run in visit.train.kept() if run.out and run.name != here]
            runs.visible, none.object = bool(runs.options), "" if runs.options else NO_OTHER_RUN

    store.param.watch(show, ["chosen", "own"])
    show()
    return box


FAIR = {
    "steps": "Every lane takes equally many steps.",
    "tokens": "Every lane reads as many tokens as the first.",
    "flops": "Every lane computes as much as the first, by estimate; what is frozen needs no backward pass.",
    "own": "Each strategy has the rate that suits it for tiny models.",
    "fixed": "One rate, 0.004, for all.",
    "published": "Rates that were made for models a thousand times larger: expect little to move here.",
    "tuned": "A search over three rates on a quarter of the labelled texts, the same for all.",
}


ALIKE = "With each seed all read the same labelled texts in the same order, so differences are paired."


def _fair(store: TransferStore) -> str:
    match = "steps" if store.then else store.match
    first = f" The first is {store.chosen[0]}." if store.chosen and match != "steps" else ""
    stated = ""
    if store.rates == "published":
        stated = say(said_of_published([store.strategy(name) for name in store.chosen]), "quiet")
    return say(f"{FAIR[match]}{first} {FAIR[store.rates]} {ALIKE}", "quiet") + stated


STORY = (
    "One card for each strategy. The map shows its plan: layer groups from the embeddings up to the task's head, step "
    "by step; full colour is the full rate, empty is frozen. The boxes show the model at the cursor, with the share of "
    "its weights that may change then, and how far each part has moved: exactly 0 where nothing could change."
)


CARD = {"flex": "0 1 290px", "min-width": "260px", "padding-top": "6px"}
"""Cards of one width, however many there are."""


def _picture(store: TransferStore, more: Sequence[tuple[Any, Callable[[], None]]]) -> tuple[list[Any], Any]:
    draft = DraftStore(steps=store.steps, layers=store.layers)
    right = outcome_chart("On unseen texts", store.metric)
    lost = outcome_chart("Forgetting: rise of the pre-training loss", "nats per scored position", zero=True)
    labels, moving, in_turn, legend = _Labels(), _Moving(), _InTurn(), html("")
    plans, maps = Plans(), beside()
    progress = pmui.LinearProgress(value=0, sizing_mode="stretch_width", margin=(8, 10))
    status, verdict, numbers, exports = html(""), html(""), html(""), _Exports(store)
    shown: dict[str, Any] = {}

    def fresh(name: str, now: Any) -> bool:
        """Whether something is not what it was at the last tick; what stays is not drawn again."""
        changed = shown.get(name) != now
        shown[name] = now
        return changed

    def tick() -> None:
        for _, follow in more:
            follow()
        status.object = say(_waiting(store), "quiet")
        asked = (tuple(store.chosen), store.steps, store.layers)
        if fresh("asked", asked):
            maps[:] = plans.draft(store)
        if fresh("metric", store.metric):
            right.figure.xaxis[0].axis_label = store.metric
            moving.name(store.metric)
            labels.chart.figure.yaxis[0].axis_label = store.metric
        run = (id(store.events), store.state, asked)
        if not fresh("heard", (run, store.heard)):
            return
        progress.value = round(100 * store.done_share)
        known = latest(store.courses, store.chosen)
        going = [n for n, c in known.items() if c.running and store.state == "running"]
        legend.object = "" if store.state == "ready" else strategies_over_steps.legend(list(known), going)
        plans.move(known)
        if fresh("looked", (run, store.looked)):
            moving.show(known)
        if fresh("finished", (run, store.finished)):
            finished(known)

    def finished(known: dict[str, Course]) -> None:
        labels.show(store, known)
        in_turn.show(store)
        several = f", {store.count} labelled texts" if len(store.asked.train_sizes) > 1 else ""
        right.figure.title.text = f"On unseen texts{several}"
        right.show(store.values("accuracy"))
        lost.show(store.values("forgetting"))
        verdict.object, numbers.object = _verdict(store), _table(store)
        exports.show()
        outcomes.visible = while_it_runs.visible = store.state != "ready" and not store.in_turn

    while_it_runs = pmui.Column(heading("While it runs"), moving.panes, margin=0, sizing_mode="stretch_width")
    outcomes = beside(*(pn.pane.Bokeh(c.figure, sizing_mode="stretch_width") for c in (right, lost)))
    tick()
    return [
        progress, status, verdict, legend, labels.pane, in_turn.pane, while_it_runs, outcomes, numbers, exports.pane,
        heading("Learning rate per layer over time, and distance moved"), html(say(STORY, "quiet")), maps,
        editor(draft, store), *(part for part, _ in more),
    ], tick  # fmt: skip


class _Labels:
    """Accuracy against labels, once there is more than one number of them, and what the picture says."""

    def __init__(self) -> None:
        self.chart, self.said = label_efficiency.label_curve(), html("")
        self.pane = pmui.Column(
            pn.pane.Bokeh(self.chart.figure, sizing_mode="stretch_width"), self.said, margin=0,
            sizing_mode="stretch_width", visible=False,
        )  # fmt: skip

    def show(self, store: TransferStore, known: dict[str, Course]) -> None:
        """Draw everything so far."""
        found = store.curve
        self.pane.visible = len(store.asked.train_sizes) > 1 and bool(found)
        if self.pane.visible:
            self.chart.show({name: found.get(name, {}) for name in known})
            self.chart.reach(store.asked.train_sizes)
            self.said.object = label_efficiency.markup(store.result.facts()["curve"]) if store.result else ""


class _InTurn:
    """What is left of the first task while others are learnt, and the whole matrix of every strategy."""

    def __init__(self) -> None:
        self.first = strategies_over_steps.course_chart("What is left", "accuracy", "tasks learnt so far", most=1.0)
        self.lost = strategies_over_steps.course_chart(
            "Forgetting: rise of the pre-training loss", "nats per scored position", "tasks learnt so far", zero=True
        )
        self.tables = html("")
        charts = beside(*(pn.pane.Bokeh(c.figure, sizing_mode="stretch_width") for c in (self.first, self.lost)))
        self.pane = pmui.Column(charts, self.tables, visible=False, margin=0, sizing_mode="stretch_width")

    def show(self, store: TransferStore) -> None:
        """Draw every lane that has come through."""
        self.pane.visible = bool(store.passed)
        if (found := store.found) is None:
            return
        self.first.figure.title.text = f"What is left of {found['tasks'][0]}"
        for chart, values in ((self.first, task_sequence.first_task), (self.lost, task_sequence.pre_training)):
            chart.figure.xaxis[0].ticker = list(range(1, len(found["tasks"]) + 1))
            chart.show(values(store.passed, store.chosen))
        self.tables.object = task_sequence.markup(found)


class _Moving:
    """The curves that grow while lanes run."""

    def __init__(self) -> None:
        self.accuracy = strategies_over_steps.course_chart(f"On {SEEN} unseen texts", "accuracy", most=1.0)
        self.loss = strategies_over_steps.course_chart("Loss of the task", "nats")
        self.forgetting = strategies_over_steps.course_chart("Forgetting, modules plugged in", "nats", zero=True)
        charts = (self.accuracy, self.loss, self.forgetting)
        self.panes = beside(*(pn.pane.Bokeh(c.figure, sizing_mode="stretch_width") for c in charts), basis=300)

    def name(self, metric: str) -> None:
        """Name the task's main number."""
        self.accuracy.figure.yaxis[0].axis_label = metric

    def show(self, known: dict[str, Course]) -> None:
        """Draw everything so far."""
        for chart, what in ((self.accuracy, "accuracy"), (self.loss, "loss"), (self.forgetting, "forgetting")):
            chart.show(strategies_over_steps.over_steps(known, what))


@dataclass
class Plans:
    """The cards of the strategies that somebody chose: plan and model; each is made when it is first wanted."""

    cards: dict[str, Any] = field(default_factory=dict)
    plans: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def draft(self, store: TransferStore) -> list[Any]:
        """The cards of what is chosen, with the plans as they are asked for, before anything has run."""
        for number, name in enumerate(store.chosen):
            if name not in self.cards:
                self.cards[name] = html("")
            edge = "3px {1} {0}".format(*strategies_over_steps.style(number))
            card = self.cards[name]
            card.styles = CARD | {"border-top": edge}
            try:
                strategy = store.strategy(name)
                groups = strategy.rows(store.layers)
                self.plans[name] = (groups, strategy.plan(groups, store.steps))
                self._show(name, 0, ())
            except Refusal:
                continue
        return [self.cards[name] for name in store.chosen]

    def move(self, known: dict[str, Course]) -> None:
        """Move the cursors and show what has moved; where a lane is finished, draw the plan that was used."""
        for name, course in known.items():
            if not course.step or name not in self.plans:
                continue
            if course.outcomes:
                self.plans[name] = (course.outcomes[0].groups, course.outcomes[0].plan)
            self._show(name, course.step, course.moved, course.sizes)

    def _show(self, name: str, step: int, moved: Sequence[float], sizes: Sequence[int] = ()) -> None:
        groups, plan = self.plans[name]
        picture = model_diagram.markup(groups, plan, step, moved, sizes)
        self.cards[name].object = svg.heat(name, groups, plan, step) + picture


def _waiting(store: TransferStore) -> str:
    """What is being done, or what is to be done, as long as there is no answer."""
    if store.state == "running":
        return store.doing or store.progress or "The numbers appear as the lanes finish."
    answered = store.result is not None or store.found is not None
    return "" if answered else store.progress or "Choose a question, or Compare."


def _verdict(store: TransferStore) -> str:
    """The answer in a sentence, where a comparison is finished."""
    if store.result is not None:
        return f'<p style="font-size:1.15em;margin:.3em 0">{escape(store.result.facts()["verdict"])}</p>'
    if store.in_turn and store.found:
        so_far = " so far" * (store.state == "running")
        names = " → ".join(task.name for task in store.in_turn)
        return say(f"{names}: {store.found['labels']} labels each, {store.found['seeds']} seeds{so_far}.")
    return ""


def _table(store: TransferStore) -> str:
    """Accuracy, forgetting, costs and paired differences of every strategy, and how to make them again."""
    result = store.result
    more = "" if store.in_turn else ELSEWHERE
    again = f'<p class="quiet">Reproduce: <code>{escape(store.asked.command())}</code>{more}</p>'
    if result is None:
        return again if store.found else ""
    facts = result.facts()
    said = f"{facts['task']}, from {store.base_name}; {facts['labels']} labelled texts, {facts['seeds']} seeds."
    kept = comparison.changed(result) + comparison.untouched(result)
    kept += "".join(f"<li>{escape(line)}</li>" for line in (*mixed_levels(facts), *facts["told"]))
    return comparison.markup(facts, differences=True, verdict=False) + f"<ul>{kept}</ul>" + say(said, "quiet") + again


ELSEWHERE = (
    "; with <code>--workers N</code> on so many cores, with <code>--cluster ADDRESS</code> on a Dask cluster, with "
    "<code>--out DIR --resume</code> so that it goes on after a crash."
)
"""What the command line can do beyond the page."""


class _Exports:
    """A button for every file of the result, and one for all of them with the base model."""

    def __init__(self, store: TransferStore) -> None:
        self.store, self.trouble = store, html("")
        self.files = [self._button(name, partial(store.file, name)) for name in FILES]
        self.turns = [self._button(name, partial(store.turns, name)) for name in TURN_FILES]
        row = pn.FlexBox(
            *self.files, *self.turns, self._button("comparison.zip", store.bundle), align_items="center", margin=(0, 6)
        )
        self.pane = pmui.Column(row, self.trouble, visible=False, margin=0, sizing_mode="stretch_width")

    def show(self) -> None:
        """Offer the files that there are."""
        in_turn = bool(self.store.in_turn)
        self.pane.visible = self.store.result is not None or (self.store.state == "done" and in_turn)
        for buttons, visible in ((self.files, not in_turn), (self.turns, in_turn)):
            for button in buttons:
                button.visible = visible

    def _button(self, name: str, make: Callable[[], bytes]) -> Any:
        label = LABELS[name.rsplit(".", 1)[1]]
        button = pmui.FileDownload(callback=partial(self._made, make), filename=name, label=label, size="small")
        button.param.update(color="primary", variant="outlined", margin=(4, 4))  # the constructor warns of its aliases
        return button

    def _made(self, make: Callable[[], bytes]) -> io.BytesIO:
        try:
            self.trouble.object = ""
            return io.BytesIO(make())
        except Refusal as refusal:
            self.trouble.object = say(refusal, "trouble")
            return io.BytesIO(str(refusal).encode())


LABELS = {
    "html": "Page", "png": "PNG", "svg": "SVG", "csv": "CSV", "parquet": "Parquet", "json": "JSON",
    "ipynb": "Notebook", "zip": "All, with the model",
}  # fmt: skip
