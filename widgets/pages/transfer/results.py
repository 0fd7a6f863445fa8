"""The results of a comparison: curves while it runs, outcomes, numbers, plans, and all of it as files."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from html import escape
from typing import Any

import panel_material_ui as pmui

from playground.errors import UserError
from playground.finetuning.comparing.compare import mixed_levels
from playground.finetuning.report.page import FILES, TURN_FILES
from widgets.charts import label_efficiency
from widgets.charts.legend import style
from widgets.charts.outcomes import outcome_chart
from widgets.charts.strategies_over_steps import course_chart, legend
from widgets.pages.layout import STRETCH, View, beside, column, download, heading, plot, row
from widgets.state.transfer.store import TransferStore
from widgets.state.transfer.trials import TrialCourse, Trials
from widgets.static import comparison, layer_mix, model_diagram, svg, task_sequence
from widgets.static.svg import outcomes
from widgets.theme import html, say

ABOUT_PLANS = (
    "One card for each strategy. The map shows its plan: layer groups from the embeddings up to the task's head, step "
    "by step; full colour is the full rate, empty is frozen. The boxes show the model at the cursor, with the share of "
    "its weights that may change then, and how far each part has moved: exactly 0 where nothing could change."
)

CARD = {"flex": "0 1 290px", "min-width": "260px", "padding-top": "6px"}  # one width, however many there are

ELSEWHERE = (
    "; with <code>--workers N</code> on N cores, with <code>--cluster ADDRESS</code> on a Dask cluster, with "
    "<code>--out DIR --resume</code> so that it resumes after a crash."
)
"""What the command line can do beyond the page."""

LABELS = {
    "html": "Page", "svg": "SVG", "csv": "CSV", "json": "JSON", "ipynb": "Notebook", "zip": "All, with the model",
}  # fmt: skip

ENDED, TRAINS = "In the end, on{} unseen texts", "While it trains, on{} unseen texts"
"""Titles with the number of texts, once that is known; while it trains not all are asked."""

SO_FAR = "tasks so far"

FORGETTING = "Forgetting: rise of the pre-training loss"

Courses = dict[str, TrialCourse]


class Results(View):
    """Everything beside the controls; `editor` stands below the plans."""

    def __init__(self, transfer: TransferStore, editor: Any) -> None:
        self.transfer = transfer
        self.labels, self.moving, self.in_turn = LabelCurve(), TrialCurves(), TasksInTurn()
        self.plans, self.exports = Plans(transfer), Exports(transfer)
        self.progress = pmui.LinearProgress(value=0, margin=(8, 10), **STRETCH)
        self.status, self.verdict, self.legend, self.numbers = html(""), html(""), html(""), html("")
        self.right = cache(lambda: outcome_chart(ENDED.format(""), "accuracy"))
        self.lost = cache(lambda: outcome_chart(FORGETTING, "nats", zero=True))
        self.lost_pane = cache(lambda: plot(self.lost()))
        self.outcomes = column(lambda: beside(plot(self.right()), self.lost_pane()), visible=False)
        self.mixes = html("")
        super().__init__(
            column(
                self.progress, self.status, self.verdict, self.legend, self.labels, self.in_turn, self.moving,
                self.outcomes, self.mixes, self.numbers, self.exports,
                heading("Learning rate per layer over time, and distance moved"), html(say(ABOUT_PLANS, "quiet")),
                self.plans, editor,
            )
        )  # fmt: skip
        self.poll()

    def poll(self) -> None:
        transfer, trials = self.transfer, self.transfer.trials
        self.status.object = say(_status(trials), "quiet")
        asked = (tuple(transfer.chosen), transfer.steps, transfer.shape)
        if self.is_new(asked, "asked"):
            self.plans.draft()
        run = (trials, trials.state, asked)
        if not self.is_new((run, trials.heard), "heard"):
            return
        self.progress.value = round(100 * trials.done_share)
        courses = trials.courses_of(transfer.chosen)
        going = [n for n, c in courses.items() if c.running and trials.state == "running"]
        self.legend.object = "" if trials.state == "ready" else legend(list(courses), going)
        self.plans.move(courses)
        if self.is_new((run, trials.looked), "looked") and trials.state != "ready":
            self.moving.draw(trials, courses)
        if self.is_new((run, trials.finished), "finished"):
            self._finished(trials, transfer.chosen)

    def _finished(self, trials: Trials, chosen: Sequence[str]) -> None:
        self.labels.draw(trials, chosen)
        self.in_turn.draw(trials, chosen)
        if trials.state != "ready":
            self._draw_outcomes(trials, chosen)
        self.verdict.object, self.numbers.object = _verdict(trials), _table(trials)
        self.mixes.object = layer_mix.markup(trials.result.facts()["strategies"]) if trials.result else ""
        self.exports.offer(trials)
        self.outcomes.visible = self.moving.layout.visible = trials.state != "ready" and not trials.in_turn

    def _draw_outcomes(self, trials: Trials, chosen: Sequence[str]) -> None:
        several = f", {trials.train_size} labelled texts" if len(trials.asked.train_sizes) > 1 else ""
        tested = ENDED.format(f" {trials.result.texts}" if trials.result else "")
        self.right().figure.title.text = f"{tested}{several}"
        self.right().figure.xaxis[0].axis_label, self.lost().figure.xaxis[0].axis_label = trials.metric, trials.unit
        right, lost = (trials.values(what, chosen) for what in ("accuracy", "forgetting"))
        self.right().show(right)
        self.lost().show(lost)
        self.lost_pane().visible = _measured(lost, right)


def _measured(values: Mapping[str, object], others: Mapping[str, object]) -> bool:
    """Whether a chart has something to show, now or later: not where there are other values and none of its own."""
    return any(values.values()) or not any(others.values())


class LabelCurve(View):
    """Accuracy against labels, once there is more than one number of them, and what the picture says."""

    def __init__(self) -> None:
        self.chart, self.text = cache(label_efficiency.label_curve), html("")
        super().__init__(column(lambda: plot(self.chart()), self.text, visible=False))

    def draw(self, trials: Trials, chosen: Sequence[str]) -> None:
        found, sizes = trials.curve, trials.asked.train_sizes
        self.layout.visible = len(sizes) > 1 and bool(found)
        if self.layout.visible:
            chart = self.chart()
            chart.figure.yaxis[0].axis_label = trials.metric
            chart.show({name: found.get(name, {}) for name in chosen})
            label_efficiency.reach(chart.figure, sizes)
            self.text.object = label_efficiency.markup(trials.result.facts()["curve"]) if trials.result else ""


class TasksInTurn(View):
    """What is left of the first task while others are learnt, and the whole matrix of every strategy."""

    def __init__(self) -> None:
        self.tables = html("")
        self.first = cache(lambda: course_chart("What is left", "accuracy", SO_FAR, most=1.0))
        self.lost = cache(lambda: course_chart(FORGETTING, "nats", SO_FAR, zero=True))
        self.lost_pane = cache(lambda: plot(self.lost()))
        super().__init__(column(lambda: beside(plot(self.first()), self.lost_pane()), self.tables, visible=False))

    def draw(self, trials: Trials, chosen: Sequence[str]) -> None:
        self.layout.visible = bool(trials.passed)
        if (found := trials.found) is None:
            return
        self.lost().figure.yaxis[0].axis_label = trials.unit
        self.first().figure.title.text = f"What remains of {found['tasks'][0]}"
        first, lost = (of(trials.passed, chosen) for of in (task_sequence.first_task, task_sequence.pre_training))
        for chart, values in ((self.first(), first), (self.lost(), lost)):
            chart.figure.xaxis[0].ticker = list(range(1, len(found["tasks"]) + 1))
            chart.show(values)
        self.lost_pane().visible = _measured(lost, first)
        self.tables.object = task_sequence.markup(found)


class TrialCurves(View):
    """The curves that grow while trials run."""

    def __init__(self) -> None:
        self.charts = cache(lambda: {
            "accuracy": course_chart(TRAINS.format(""), "accuracy", most=1.0),
            "loss": course_chart("Loss of the task", "loss"),
            "forgetting": course_chart("Forgetting, with the added modules", "nats", zero=True),
        })  # fmt: skip
        self.panes = cache(lambda: {what: plot(chart) for what, chart in self.charts().items()})
        super().__init__(
            column(heading("While it runs"), lambda: beside(*self.panes().values(), basis=300), visible=False)
        )

    def draw(self, trials: Trials, courses: Courses) -> None:
        charts = self.charts()
        values = {what: {name: course.values(what) for name, course in courses.items()} for what in charts}
        for what, chart in charts.items():
            chart.show(values[what])
            self.panes()[what].visible = _measured(values[what], values["accuracy"])
        texts = next((course.texts for course in courses.values() if course.texts), 0)
        accuracy = charts["accuracy"].figure
        accuracy.title.text = TRAINS.format(f" {texts}" if texts else "")
        accuracy.yaxis[0].axis_label = trials.metric
        charts["forgetting"].figure.yaxis[0].axis_label = trials.unit


class Plans(View):
    """The cards of the strategies that are chosen: plan and model; each is made when it is first needed."""

    def __init__(self, transfer: TransferStore) -> None:
        self.transfer = transfer
        self.cards: dict[str, Any] = {}
        self.plans: dict[str, tuple[Any, Any]] = {}
        super().__init__(beside())

    def draft(self) -> None:
        """The cards of what is chosen, with the plans as they are asked for, before anything has run."""
        transfer = self.transfer
        for number, name in enumerate(transfer.chosen):
            colour, dash = style(number)
            card = self.cards.setdefault(name, html(""))
            card.styles = CARD | {"border-top": f"3px {dash} {colour}"}
            try:
                strategy = transfer.strategy(name)
                groups = strategy.rows(transfer.shape)
                self.plans[name] = (groups, strategy.plan(groups, transfer.steps))
                self._draw(name, 0, ())
            except UserError:
                continue
        self.layout[:] = [self.cards[name] for name in transfer.chosen]

    def move(self, courses: Courses) -> None:
        """Move the cursors and show what has moved; where a trial is finished, draw the plan that was used."""
        for name, course in courses.items():
            if not course.step or name not in self.plans:
                continue
            if course.outcomes:
                self.plans[name] = (course.outcomes[0].groups, course.outcomes[0].plan)
            self._draw(name, course.step, course.moved, course.sizes)

    def _draw(self, name: str, step: int, moved: Sequence[float], sizes: Sequence[int] = ()) -> None:
        groups, plan = self.plans[name]
        picture = model_diagram.markup(groups, plan, step, moved, sizes)
        self.cards[name].object = svg.heat(name, groups, plan, step) + picture


def _status(trials: Trials) -> str:
    if trials.state == "running":
        return trials.doing or trials.progress or "The numbers appear as the trainings finish."
    answered = trials.result is not None or trials.found is not None
    return "" if answered else trials.progress or "Choose a question, or press Compare."


def _verdict(trials: Trials) -> str:
    if trials.result is not None:
        return f'<p style="font-size:1.15em;margin:.3em 0">{escape(trials.result.facts()["verdict"])}</p>'
    if trials.in_turn and (found := trials.found):
        so_far = " so far" * (trials.state == "running")
        names = " → ".join(task.name for task in trials.in_turn)
        return say(
            f"{names}: {found['labels']} labels each, {found['seeds']} seeds{so_far}. {' '.join(found['notices'])}"
        )
    return ""


def _table(trials: Trials) -> str:
    """Accuracy, forgetting, costs and paired differences of every strategy, and how to make them again."""
    result = trials.result
    more = "" if trials.in_turn else ELSEWHERE
    again = (
        f'<p class="quiet">Reproduce: <code>{escape(trials.typed.command())}</code>{more} {escape(trials.where)}</p>'
    )
    if result is None:
        return again if trials.found else ""
    facts = result.facts()
    scope = f"{facts['task']}, from {trials.base_name}; {facts['labels']} labelled texts, {facts['seeds']} seeds."
    notes = comparison.changed(result) + comparison.untouched(result)
    notes += "".join(f"<li>{escape(line)}</li>" for line in (*mixed_levels(facts), *facts["notices"]))
    return comparison.markup(facts, differences=True, verdict=False) + f"<ul>{notes}</ul>" + say(scope, "quiet") + again


class Exports(View):
    """A button for every file of the result, and one for all of them with the base model."""

    def __init__(self, transfer: TransferStore) -> None:
        self.transfer, self.trouble = transfer, html("")
        self.files = cache(lambda: {n: self._button(n, partial(self._file, n)) for n in (*FILES, *TURN_FILES)})
        super().__init__(column(self._buttons, self.trouble, visible=False))

    def _buttons(self) -> Any:
        whole = self._button("comparison.zip", lambda: self.transfer.files(outcomes).archive())
        return row(*self.files().values(), whole, margin=(0, 6))

    def _file(self, name: str) -> bytes:
        return self.transfer.files(outcomes).file(name)

    def offer(self, trials: Trials) -> None:
        in_turn = bool(trials.in_turn)
        visible = trials.result is not None or (trials.state == "done" and in_turn)
        for name, button in self.files().items() if visible else ():
            button.visible = name in (TURN_FILES if in_turn else FILES)
        self.layout.visible = visible

    def _button(self, name: str, make: Callable[[], bytes]) -> Any:
        def made() -> bytes:
            self.trouble.object = ""
            return make()

        label, looks = LABELS[name.rsplit(".", 1)[1]], {"variant": "outlined", "margin": (4, 4)}
        return download(made, name, label, lambda why: setattr(self.trouble, "object", say(why, "trouble")), **looks)
