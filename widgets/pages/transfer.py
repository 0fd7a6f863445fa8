"""Transfer page: fine-tune one pre-trained model in several ways at once; what each gains, forgets and costs."""

from dataclasses import dataclass, field
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.finetuning import Lane, find_task, strategies, tasks
from playground.finetuning.tune import Outcome, Tuned
from widgets.pages.layout import beside, bind, growing, heading, two_columns
from widgets.store import Store, TransferStore
from widgets.theme import BLUE, html, say
from widgets.views import comparison
from widgets.views.outcomes import FORGETTING, outcome_chart
from widgets.views.plasticity import PlanChart, plan_chart


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
    controls = [heading("Base model"), base, quick, *_controls(transfer), pmui.Row(compare, stop, margin=0)]
    picture, follow = _picture(transfer)

    def tick() -> None:
        base.object = _base(store)
        running = transfer.state == "running"
        compare.disabled, stop.disabled = running, not running
        quick.disabled = store.train.session is not None and store.train.session.state == "running"
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
    task = pmui.Select(
        label="task", options=list(tasks()), value=store.task, sizing_mode="stretch_width", margin=(6, 10)
    )
    bind(task, store, "task")
    chosen = pmui.CheckBoxGroup(options=list(strategies()), value=list(store.chosen), margin=(4, 14))
    bind(chosen, store, "chosen")
    labels = pmui.Select(
        label="labelled texts", options=[16, 32, 64, 128, 256, 512], value=store.labels, sizing_mode="stretch_width",
        margin=(6, 10),
    )  # fmt: skip
    bind(labels, store, "labels")
    seeds = pmui.IntSlider(
        label="seeds", start=1, end=8, value=store.seeds, sizing_mode="stretch_width", margin=(6, 10)
    )
    bind(seeds, store, "seeds")
    steps = pmui.IntSlider(
        label="steps", start=20, end=300, step=10, value=store.steps, sizing_mode="stretch_width", margin=(6, 10)
    )
    bind(steps, store, "steps")
    return [
        heading("Task"), task, html(say(find_task(store.task).idea, "quiet")), heading("Strategies"), chosen,
        heading("How much"), labels, seeds, steps,
    ]  # fmt: skip


def _picture(store: TransferStore) -> tuple[list[Any], Any]:
    right = outcome_chart("Accuracy on unseen texts", "share right", BLUE)
    lost = outcome_chart("Forgetting: rise of the pre-training loss", "nats per graded position", FORGETTING)
    plans, heat = Plans(), beside()
    progress = pmui.LinearProgress(value=0, sizing_mode="stretch_width", margin=(8, 10))
    trouble, numbers = html(""), html(_table(store))
    shown: dict[str, Any] = {"events": -1, "chosen": None}

    def tick() -> None:
        trouble.object = say(store.trouble, "trouble")
        events = store.events
        if shown["chosen"] != (store.chosen, store.steps):
            shown["chosen"] = (list(store.chosen), store.steps)
            heat[:] = [plans.pane(name) for name in store.chosen]
        if shown["events"] == len(events) and shown.get("list") is events:
            return
        fresh = events if shown.get("list") is not events else events[shown["events"] :]
        shown.update(events=len(events), list=events)
        progress.value = round(100 * store.done_share)
        _move(fresh, plans)
        right.show(store.values("accuracy"))
        lost.show(store.values("forgetting"))
        numbers.object = _table(store)

    tick()
    story = html(
        say(
            "Each map shows one strategy's plan: layer groups from the embeddings up to the task's head, step by step. "
            "Full colour is the full learning rate, empty is frozen: no gradient, not one bit changes.",
            "quiet",
        )
    )
    charts = beside(
        pn.pane.Bokeh(right.figure, sizing_mode="stretch_width"),
        pn.pane.Bokeh(lost.figure, sizing_mode="stretch_width"),
    )
    return [trouble, progress, charts, numbers, heading("What may change when"), story, heat], tick


@dataclass
class Plans:
    """The heat maps of the strategies that somebody chose; each is made when it is first wanted."""

    charts: dict[str, PlanChart] = field(default_factory=dict)
    panes: dict[str, Any] = field(default_factory=dict)

    def chart(self, name: str) -> PlanChart:
        """The heat map of one strategy."""
        if name not in self.charts:
            self.charts[name] = plan_chart(name)
        return self.charts[name]

    def pane(self, name: str) -> Any:
        """The same, ready to stand beside others."""
        if name not in self.panes:
            shown = pn.pane.Bokeh(self.chart(name).figure, sizing_mode="stretch_width")
            self.panes[name] = growing(shown, 280)
        return self.panes[name]


def _move(events: list[Any], plans: Plans) -> None:
    """Move the cursors to the latest step of every lane and draw the plans that were used."""
    latest: dict[str, Any] = {}
    for event in events:
        if isinstance(event, Lane):
            latest[event.strategy.name] = event.event
            if isinstance(event.event, Outcome):
                plans.chart(event.strategy.name).show(event.event.groups, event.event.rates)
    for name, event in latest.items():
        plans.chart(name).at(event.step if isinstance(event, Tuned) else event.plan.shape[1])


def _table(store: TransferStore) -> str:
    """Accuracy, forgetting, parameters and seconds of every strategy, and the verdict."""
    result = store.result
    if result is None:
        waiting = "The numbers appear as the lanes finish." if store.state == "running" else "Press Compare."
        return say(waiting, "quiet")
    facts = result.facts()
    said = f"From {store.base_name}; {facts['labels']} labelled texts, {facts['seeds']} seeds."
    return comparison.markup(facts) + say(said, "quiet")
