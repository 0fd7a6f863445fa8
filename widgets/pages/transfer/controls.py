"""What is chosen for a comparison: the task, the strategies, how much, and what is kept equal."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.corpora.sources import TABLES, TREEBANKS
from playground.errors import UserError
from playground.finetuning import tasks
from playground.finetuning.comparing.budget_matching import list_published
from playground.training.parallel.workers import spare
from widgets.lists.strategy_picker import cards, chooser
from widgets.pages.layout import FIELD, View, column, heading, number, upload
from widgets.pages.menus import own_first
from widgets.state.app import Store
from widgets.state.transfer.store import MOST_STRATEGIES, TransferStore
from widgets.state.transfer.task_choice import OWN_FILE
from widgets.state.uploads import NO_COLUMN
from widgets.theme import html, say

SIZES = [16, 32, 64, 128, 256, 512]

NO_OTHER_RUN = say("There is no other saved run; train one on the same corpus.", "quiet")

FAIR = {
    "steps": "All trials take the same number of steps.",
    "tokens": "All trials read as many tokens as the first.",
    "flops": "All trials use the estimated compute of the first; frozen layers need no backward pass.",
    "own": "Each strategy uses the learning rate that suits it on tiny models.",
    "fixed": "One rate, 0.004, for all.",
    "published": "Learning rates for models a thousand times larger: expect little change here.",
    "tuned": "A search over three rates on a quarter of the labelled texts, the same for all.",
}

PAIRED = "For each seed, all strategies see the same labelled texts in the same order, so differences are paired."


def choices(store: Store) -> list[Any]:
    """The controls below each other."""
    transfer = store.transfer
    chosen, names = transfer.param, list(tasks())
    trials = execution(transfer.quota.shared, "one by one, shown step by step")
    in_turn = pn.bind(bool, chosen.then)
    strategies = chooser(MOST_STRATEGIES, cards=pn.bind(cards, chosen.own), value=list(transfer.chosen), margin=(4, 10))
    strategies.link(transfer, value="chosen", bidirectional=True)
    rules = (chosen.match, chosen.lr_policy, chosen.chosen, chosen.own, chosen.then)
    noise = chosen.seeds, chosen.chosen, chosen.train_size, chosen.other_sizes, chosen.then
    task = (
        chosen.task, chosen.own_file, chosen.text_column, chosen.second_column, chosen.label_column, chosen.encoding
    )  # fmt: skip
    return [
        heading("Task"), pmui.Select.from_param(chosen.task, groups=own_first([OWN_FILE], names), **FIELD),
        LabelledFile(transfer), html(pn.bind(lambda *_: _about_task(transfer), *task)),
        pmui.MultiChoice.from_param(chosen.then, options=names, **FIELD),
        pmui.Select.from_param(chosen.input_format, **FIELD), number(chosen.max_length, **FIELD),
        heading("Strategies"), strategies, ExtraEncoders(store),
        heading("Budget"), pmui.Select.from_param(chosen.train_size, options=SIZES, **FIELD),
        pmui.MultiChoice.from_param(chosen.other_sizes, options=SIZES, disabled=in_turn, **FIELD),
        number(chosen.seeds, pmui.IntSlider, **FIELD), html(pn.bind(lambda *_: say(transfer.power, "quiet"), *noise)),
        number(chosen.steps, pmui.IntSlider, **FIELD),
        pmui.Select.from_param(chosen.workers, options=trials, disabled=in_turn, **FIELD),
        heading("Fairness"), pmui.Select.from_param(chosen.match, disabled=in_turn, **FIELD),
        pmui.Select.from_param(chosen.lr_policy, **FIELD), html(pn.bind(lambda *_: said_of_fairness(transfer), *rules)),
    ]  # fmt: skip


def execution(shared: bool, one_by_one: str) -> dict[str, int]:
    """Where work may run: one after another, or side by side on cores that are not shared."""
    cores = 1 if shared else spare(0)
    return {one_by_one: 1} | ({f"side by side, in {cores} processes": cores} if cores > 1 else {})


def said_of_fairness(transfer: TransferStore) -> str:
    """What is equal for all strategies."""
    match = "steps" if transfer.then else transfer.match
    first = f" The first is {transfer.chosen[0]}." if transfer.chosen and match != "steps" else ""
    published = ""
    if transfer.lr_policy == "published":
        published = say(list_published([transfer.strategy(name) for name in transfer.chosen]), "quiet")
    return say(f"{FAIR[match]}{first} {FAIR[transfer.lr_policy]} {PAIRED}", "quiet") + published


def _about_task(transfer: TransferStore) -> str:
    """What the chosen task asks, how it is measured, and what was guessed about a file."""
    try:
        task = transfer.task_choice.known
    except UserError as refusal:
        return say(str(refusal), "quiet")
    return say(f"{task.idea} Measured: {task.metric}.", "quiet") + say(task.notice, "notice")


class LabelledFile(View):
    """Where a labelled file is chosen, its encoding where it is not UTF-8, and its columns of texts and labels."""

    def __init__(self, transfer: TransferStore) -> None:
        self.transfer, self.columns = transfer, column()
        file = upload(
            "choose a file", lambda files: transfer.upload(*files[0]), lambda why: transfer.param.update(trouble=why),
            accept=",".join((*TABLES, *TREEBANKS)),
        )  # fmt: skip
        self.encoding = pmui.Select.from_param(transfer.param.encoding, visible=False, **FIELD)
        super().__init__(column(file, self.encoding, self.columns, visible=transfer.param.task.rx() == OWN_FILE))
        transfer.param.watch(self._show, ["task", "own_file", "encoding"])
        self._show()

    def _show(self, *_: object) -> None:
        """Offer the columns again for every file: a field that stays would keep its first guess."""
        transfer, table = self.transfer, None
        with suppress(UserError):  # said below the task
            table = transfer.task_choice.table
        names = ("text_column", "second_column", "label_column")
        self.columns[:] = [self._column(name, getattr(table, name), table.columns) for name in names if table]
        self.encoding.visible = transfer.task_choice.unreadable or bool(transfer.encoding)

    def _column(self, name: str, guess: str | None, columns: Sequence[str]) -> pmui.Select:
        transfer = self.transfer
        options = {f"{guess or 'none'} (guessed)": ""} | {each: each for each in columns if each != guess}
        if name == "second_column" and guess:
            options[NO_COLUMN] = NO_COLUMN
        label = transfer.param[name].label
        select = pmui.Select(label=label, options=options, value=getattr(transfer, name), **FIELD)
        select.param.watch(lambda event: transfer.param.update(**{name: event.new}), "value")
        return select


class ExtraEncoders(View):
    """The kept runs whose vectors are read beside those of the base, while a strategy that reads them is chosen."""

    def __init__(self, store: Store) -> None:
        self.store, self.none = store, html("")
        self.runs = pmui.MultiChoice.from_param(store.transfer.param.extra_encoders, **FIELD)
        super().__init__(column(self.runs, self.none, visible=False))
        store.transfer.param.watch(self._show, ["chosen", "own"])
        self._show()

    def _show(self, *_: object) -> None:
        train, needed = self.store.train, self.store.transfer.reads_others
        if needed:
            names = [run.name for run in train.kept() if run.out and run.name != train.name_of_run]
            self.runs.options, self.runs.visible = names, bool(names)
            self.none.object = "" if names else NO_OTHER_RUN
        self.layout.visible = needed
