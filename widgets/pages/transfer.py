"""Transfer page: fine-tune one pre-trained model in several ways at once; what each gains, forgets and costs."""

import io
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.corpora.source import TABLES, TREEBANKS
from playground.finetuning import strategies, tasks
from playground.finetuning.artefact import FILES
from playground.finetuning.fair import MATCHES, RATES
from playground.finetuning.packing import PACKINGS
from playground.finetuning.tune import SEEN
from playground.refusal import Refusal
from widgets.comparing import OWN_FILE, Course, TransferStore, latest
from widgets.drafting import DraftStore
from widgets.pages.drafting import editor
from widgets.pages.layout import beside, bind, growing, heading, two_columns
from widgets.store import Store
from widgets.theme import BLUE, html, say
from widgets.views import comparison, courses, diagram, svg
from widgets.views.outcomes import FORGETTING, outcome_chart

COUNTS = [16, 32, 64, 128, 256, 512]


def page(store: Store) -> tuple[Any, Any]:
    """The whole page, and the tick that keeps it alive."""
    transfer = store.transfer
    compare = pmui.Button(label="Compare", icon="compare_arrows", color="primary", variant="contained", margin=(6, 10))
    compare.on_click(lambda _: transfer.begin(store.train.session))
    stop = pmui.Button(label="Stop", icon="stop", variant="outlined", size="small", margin=(6, 3))
    stop.on_click(lambda _: transfer.end())
    quick = pmui.Button(label="Train one here", icon="model_training", variant="outlined", size="small", margin=(6, 10))
    quick.on_click(lambda _: _train_one(store))
    base = html("")
    controls = [heading("Base model"), base, quick, pmui.Row(compare, stop, margin=0), *_controls(transfer)]
    picture, follow = _picture(transfer)

    def tick() -> None:
        base.object = _base(store)
        running = transfer.state == "running"
        compare.disabled, stop.disabled = running, not running
        session = store.train.session
        quick.disabled = session is not None and session.state == "running"
        if session is not None and session.learner is not None:
            transfer.layers = session.learner.model.shape.layers
        follow()

    return two_columns(controls, picture), tick


def _train_one(store: Store) -> None:
    if (session := store.train.begin()) is not None:
        session.start()


def _base(store: Store) -> str:
    session = store.train.session
    if store.train.trouble:
        return say(store.train.trouble, "trouble")
    if session is None or not session.rows:
        return say(f"None yet. Train {store.train.entry} on {store.train.corpus} first.", "notice")
    step = session.rows[-1].step
    name = f"{session.run.entry.name} on {session.run.corpus.name}, step {step} of {session.run.last}"
    resting = "Comparing pauses its training." if session.state == "running" else ""
    return say(name) + say(resting, "quiet")


def _controls(store: TransferStore) -> list[Any]:
    wide = {"sizing_mode": "stretch_width", "margin": (6, 10)}
    task = pmui.Select(label="task", options=[*tasks(), OWN_FILE], value=store.task, **wide)
    packing = pmui.Select(label="texts packed", options=PACKED, value=store.packing, **wide)
    chosen = pmui.CheckBoxGroup(options=list(strategies()), value=list(store.chosen), margin=(4, 14))
    store.param.watch(lambda _: chosen.param.update(options=[*strategies(), *store.own]), "own")
    labels = pmui.Select(label="labelled texts", options=COUNTS, value=store.labels, **wide)
    counts = pmui.MultiChoice(label="and also with", options=COUNTS, value=list(store.counts), **wide)
    seeds = pmui.IntSlider(label="seeds", start=1, end=8, value=store.seeds, **wide)
    steps = pmui.IntSlider(label="steps", start=20, end=300, step=10, value=store.steps, **wide)
    match = pmui.Select(label="alike in every lane", options=list(MATCHES), value=store.match, **wide)
    rates = pmui.Select(label="learning rates", options=list(RATES), value=store.rates, **wide)
    bound = {"task": task, "chosen": chosen, "labels": labels, "counts": counts, "seeds": seeds, "steps": steps,
             "match": match, "rates": rates, "packing": packing}  # fmt: skip
    for name, widget in bound.items():
        bind(widget, store, name)
    why = html(_fair(store))
    store.param.watch(lambda _: why.param.update(object=_fair(store)), ["match", "rates", "chosen"])
    return [
        heading("Task"), task, _file(store), _idea(store), packing, heading("Strategies"), chosen,
        heading("How much"), labels, counts, seeds, steps, heading("Fair"), match, rates, why,
    ]  # fmt: skip


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
    store.param.watch(lambda _: idea.param.update(object=told()), ["task", "own_file", "text_column", "label_column"])
    return idea


def _file(store: TransferStore) -> Any:
    """Where a labelled file is chosen, and which of its columns are the text and the label."""
    upload = pmui.FileInput(label="choose a file", accept=",".join((*TABLES, *TREEBANKS)), margin=(6, 10))
    upload.param.watch(lambda _: upload.value and store.upload(str(upload.filename), upload.value), "value")
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


FAIR = {
    "steps": "Every lane takes equally many steps.",
    "tokens": "Every lane reads as many tokens as the first.",
    "flops": "Every lane computes as much as the first, by estimate; what is frozen needs no backward pass.",
    "own": "Each strategy has the rate that suits it for tiny models.",
    "fixed": "One rate, 0.004, for all.",
    "published": "The papers' rates, made for models a thousand times larger: expect little to move here.",
    "tuned": "A search over three rates on a quarter of the labelled texts, the same for all.",
}


def _fair(store: TransferStore) -> str:
    first = f" The first is {store.chosen[0]}." if store.chosen and store.match != "steps" else ""
    return say(f"{FAIR[store.match]}{first} {FAIR[store.rates]}", "quiet")


STORY = (
    "One card for each strategy. The map shows its plan: layer groups from the embeddings up to the task's head, step "
    "by step; full colour is the full rate, empty is frozen. The boxes show the model at the cursor, and how far each "
    "part has moved: exactly 0 where nothing could change."
)


def _picture(store: TransferStore) -> tuple[list[Any], Any]:
    draft = DraftStore(steps=store.steps, layers=store.layers)
    right = outcome_chart("On unseen texts", store.metric, BLUE)
    lost = outcome_chart("Forgetting: rise of the pre-training loss", "nats per graded position", FORGETTING)
    moving, legend = _Moving(), html("")
    plans, cards = Plans(), beside()
    progress = pmui.LinearProgress(value=0, sizing_mode="stretch_width", margin=(8, 10))
    trouble, numbers, exports = html(""), html(_table(store)), _exports(store)
    shown: dict[str, Any] = {"at": None, "chosen": None, "metric": None}

    def tick() -> None:
        trouble.object = say(store.trouble, "trouble")
        if shown["chosen"] != (chosen := (tuple(store.chosen), store.steps, store.layers)):
            shown["chosen"] = chosen
            cards[:] = plans.draft(store)
            return
        if shown["metric"] != (metric := store.metric):
            shown["metric"] = right.figure.xaxis[0].axis_label = metric
            moving.name(metric)
        if shown["at"] == (at := (id(store.events), len(store.events), store.state)):
            return
        shown["at"] = at
        progress.value = round(100 * store.done_share)
        known = latest(store.courses, store.chosen)
        legend.object = courses.legend(list(known), [name for name, c in known.items() if c.running])
        moving.show(store, known)
        plans.move(known)
        right.show(store.values("accuracy"))
        lost.show(store.values("forgetting"))
        numbers.object = _table(store)
        exports.visible, while_it_runs.visible = store.result is not None, bool(store.courses)

    while_it_runs = pmui.Column(heading("While it runs"), legend, moving.panes, margin=0, sizing_mode="stretch_width")
    while_it_runs.visible = False
    tick()
    charts = beside(*(pn.pane.Bokeh(c.figure, sizing_mode="stretch_width") for c in (right, lost)))
    return [
        trouble, progress, numbers, exports, charts, while_it_runs,
        editor(draft, store), heading("What may change when, and what did"), html(say(STORY, "quiet")), cards,
    ], tick  # fmt: skip


class _Moving:
    """The curves that grow while lanes run, and accuracy against labels once there is more than one number."""

    def __init__(self) -> None:
        self.accuracy = courses.course_chart(f"On {SEEN} unseen texts", "accuracy")
        self.loss = courses.course_chart("Loss of the task", "nats")
        self.forgetting = courses.course_chart("Forgetting, modules plugged in", "nats", zero=True)
        self.labels = courses.course_chart("Against the number of labelled texts", "accuracy", "labelled texts")
        charts = (self.accuracy, self.loss, self.forgetting, self.labels)
        panes = [pn.pane.Bokeh(c.figure, sizing_mode="stretch_width") for c in charts]
        self.against = panes[-1]
        self.against.visible = False
        self.panes = beside(*panes, basis=300)

    def name(self, metric: str) -> None:
        """Name the task's main number."""
        for chart in (self.accuracy, self.labels):
            chart.figure.yaxis[0].axis_label = metric

    def show(self, store: TransferStore, known: dict[str, Course]) -> None:
        """Draw everything so far."""
        for chart, what in ((self.accuracy, "accuracy"), (self.loss, "loss"), (self.forgetting, "forgetting")):
            chart.show(courses.over_steps(known, what))
        self.against.visible = bool(store.counts)
        if store.counts:
            curve = store.curve
            self.labels.show({name: curve.get(name, {}) for name in known})


@dataclass
class Plans:
    """The cards of the strategies that somebody chose: plan and model; each is made when it is first wanted."""

    cards: dict[str, Any] = field(default_factory=dict)
    plans: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def draft(self, store: TransferStore) -> list[Any]:
        """The cards of what is chosen, with the plans as they are asked for, before anything has run."""
        for name in store.chosen:
            if name not in self.cards:
                self.cards[name] = growing(html(""), 300)
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
            self._show(name, course.step, course.moved)

    def _show(self, name: str, step: int, moved: Any) -> None:
        groups, plan = self.plans[name]
        self.cards[name].object = svg.heat(name, groups, plan, step) + diagram.markup(groups, plan, step, moved)


def _table(store: TransferStore) -> str:
    """Accuracy, forgetting, costs and paired differences of every strategy, and the verdict."""
    result = store.result
    if result is None:
        waiting = "The numbers appear as the lanes finish." if store.state == "running" else "Press Compare."
        return say(waiting, "quiet")
    facts = result.facts()
    said = f"From {store.base_name}; {facts['labels']} labelled texts, {facts['seeds']} seeds."
    kept = comparison.untouched(result)
    again = f'<p class="quiet">Again from the archive: <code>{escape(store.asked.command())}</code></p>'
    return comparison.markup(facts, differences=True) + f"<ul>{kept}</ul>" + say(said, "quiet") + again


def _exports(store: TransferStore) -> Any:
    """A button for every file of the result, one for all of them with the base model, and the command line."""
    trouble = html("")

    def made(make: Any) -> Any:
        try:
            trouble.object = ""
            return io.BytesIO(make())
        except Refusal as refusal:
            trouble.object = say(refusal, "trouble")
            return io.BytesIO(str(refusal).encode())

    look = {"variant": "outlined", "size": "small", "margin": (4, 4), "color": "primary"}
    named = {name: partial(made, partial(store.file, name)) for name in FILES}
    named["comparison.zip"] = partial(made, store.bundle)
    buttons = [
        pmui.FileDownload(callback=make, filename=name, label=LABELS[name.rsplit(".", 1)[1]], **look)
        for name, make in named.items()
    ]
    row = pn.FlexBox(*buttons, align_items="center", margin=(0, 6))
    return pmui.Column(row, trouble, visible=False, margin=0, sizing_mode="stretch_width")


LABELS = {
    "html": "Page", "png": "PNG", "svg": "SVG", "csv": "CSV", "parquet": "Parquet", "json": "JSON",
    "ipynb": "Notebook", "zip": "All, with the model",
}  # fmt: skip
