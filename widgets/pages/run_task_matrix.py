"""Which of the kept runs suits which task: a table that fills while each is tried, and the way to take one of them."""

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.finetuning import tasks
from widgets.pages.layout import bind
from widgets.state.run_task_matrix import LABELS, SEEDS, STRATEGY, ChoosingStore
from widgets.state.train import TrainStore
from widgets.static import run_task_matrix
from widgets.theme import html, say

WORDS = (
    f"Every run is tried on every task, {STRATEGY} with {LABELS} labelled texts and {SEEDS} seeds. 'Alike' is the "
    "share of words that a task and the text of pre-training have in common, 0 to 1 (arXiv:2003.08271, sec. 5.2)."
)


def choice(
    store: ChoosingStore, train: TrainStore, taken: Callable[[], None] = lambda: None
) -> tuple[pmui.Column, Callable[[], None]]:
    """A button, behind it the runs, the tasks and the table, and the tick that follows the trying.

    A run that is `taken` goes to the Train page and is the base from then on.
    """
    opened = pmui.Toggle(label="Which run suits which task?", icon="table_chart", value=False, margin=(10, 10))
    inside, follow, refresh = _inside(store, train, taken)

    def turn(event: Any) -> None:
        refresh()
        inside.visible = event.new

    opened.param.watch(turn, "value")
    return pmui.Column(opened, inside, sizing_mode="stretch_width", margin=0), follow


def _inside(
    store: ChoosingStore, train: TrainStore, use: Callable[[], None]
) -> tuple[pmui.Column, Callable[[], None], Callable[[], None]]:
    wide = {"sizing_mode": "stretch_width", "margin": (6, 10)}
    runs = pmui.MultiChoice(label="runs", options=[], value=[], **wide)
    some = pmui.MultiChoice(label="tasks", options=list(tasks()), value=list(store.tasks), **wide)
    bind(runs, store, "names")
    bind(some, store, "tasks")
    begin = pmui.Button(
        label="Evaluate every run on every task", icon="grid_on", color="primary", variant="contained", margin=(6, 10)
    )
    begin.on_click(lambda _: store.begin())
    stop = pmui.Button(label="Stop trying", icon="stop", variant="outlined", size="small", margin=(6, 3), disabled=True)
    stop.on_click(lambda _: store.end())
    take = pmui.Select(label="compare strategies from", options=[], width=260, margin=(6, 10))
    taken = pmui.Button(label="Use this run", icon="check", variant="outlined", size="small", margin=(6, 4))
    taken.on_click(lambda _: take.value and train.open(take.value) and use())
    taking = pn.FlexBox(take, taken, align_items="center", margin=(0, 6), visible=False)
    picture, trouble = html(""), html("")
    seen: dict[str, Any] = {}

    def refresh() -> None:
        """Offer the runs that are kept by now."""
        names = [run.name for run in train.kept() if run.out and run.state != "running"]
        runs.options = names
        store.names = [name for name in store.names if name in names] or names[-4:]
        trouble.object = "" if names else say("No run is kept yet; train one first.", "notice")

    def follow() -> None:
        now = store.trying.turn, len(store.tried), store.trouble
        if seen.get("now") == now:
            return
        seen["now"] = now
        busy = store.trying.busy
        begin.disabled, stop.disabled = busy, not busy
        trouble.object = say(store.trouble or store.trying.error or "", "trouble")
        found = store.found
        picture.object = run_task_matrix.markup(found, not busy) if found else ""
        taking.visible = bool(found) and not busy
        if taking.visible and found is not None:
            take.param.update(options=found["runs"], value=found["runs"][0])

    return (
        pmui.Column(
            html(say(WORDS, "quiet")), runs, some, pmui.Row(begin, stop, margin=0), trouble, picture, taking,
            visible=False, sizing_mode="stretch_width", margin=0,
        ),
        follow,
        refresh,
    )  # fmt: skip
