"""Transfer page: fine-tune one pre-trained model in several ways at once; what each gains, forgets and costs."""

from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.finetuning.comparing.spec import ComparisonSpec
from widgets.pages.base_model import base_choice, describe_base
from widgets.pages.layout import FIELD, MAIN, STRETCH, Sidebar, View, button, heading, row, unfolding
from widgets.pages.transfer.controls import choices
from widgets.pages.transfer.results import Results
from widgets.pages.transfer.sentence_editor import SentenceEditor
from widgets.pages.transfer.strategy_editor import StrategyEditor
from widgets.state.app import Store
from widgets.state.base import CHANGES
from widgets.state.strategy_editor import StrategyEditorStore
from widgets.state.transfer.task_choice import OWN_FILE
from widgets.theme import html, say

QUESTIONS: dict[str, dict[str, Any]] = {
    "Is pre-training worth it?": {
        "chosen": ["random start", "full"], "train_size": 16, "other_sizes": [32, 64, 128, 256],
    },
    "What is forgotten?": {"chosen": ["full", "gradual unfreezing", "L2-SP", "EWC", "adapters"]},
    "Do the model's own weights change?": {
        "chosen": ["full", "feature-based", "adapters", "LoRA", "BitFit"], "seeds": 2,
    },
    "What does a second task do to the first?": {
        "chosen": ["full", "EWC", "replay", "adapters"], "then": ["entailment"], "train_size": 128, "seeds": 2,
    },
}  # fmt: skip
"""Questions to begin with, and what is chosen for each that `ASKED` does not say; one click asks it."""

ASKED: dict[str, Any] = {
    "task": "sentiment", "then": [], "train_size": 64, "other_sizes": [], "seeds": ComparisonSpec.seeds, "steps": 80,
    "match": "steps", "lr_policy": "own",
}  # fmt: skip


class TransferPage(View):
    """What is compared, the button that begins, and the results."""

    def __init__(self, store: Store) -> None:
        self.store, transfer = store, store.transfer
        self.compare = button("Compare", lambda: transfer.begin(store.base), "compare_arrows", margin=(6, 10), **MAIN)
        self.stop = button("Stop", transfer.end, "stop", margin=(6, 3), disabled=True)
        self.halt = button("Stop", transfer.end, "stop", margin=(8, 3, 0, 3), visible=False)
        self.train = button(
            "Train one here", store.train_one, "model_training", margin=(6, 10),
            description="Train one here: the model chosen on the Train page; this page shows the progress.",
        )  # fmt: skip
        self.build = button(
            "Make base models ready", store.build_bases, "inventory_2", margin=(6, 10),
            description="Make base models ready: train the standard ones once and keep them on this machine.",
        )  # fmt: skip
        self.built = html("")
        self.train_base = button("", store.train_base, "model_training", margin=(0, 10, 6, 10), visible=False)
        self.training = pmui.LinearProgress(variant="determinate", value=0, margin=(8, 10), visible=False, **STRETCH)
        self.awaited = html("")
        self.questions = [
            button(name, lambda name=name: ask(store, name), **{**FIELD, "margin": (3, 10)}) for name in QUESTIONS
        ]
        self.base, self.trouble, before = html(""), html(""), transfer.param.before
        editor = unfolding(
            "Make a strategy of your own: knobs, parts, paint",
            "brush",
            lambda: StrategyEditor(StrategyEditorStore(steps=transfer.steps, shape=transfer.shape), transfer),
        )
        self.views = (
            Results(transfer, editor), SentenceEditor(store.sentence, transfer, lambda: store.base),
        )  # fmt: skip
        controls = [
            heading("Base model"), base_choice(store), self.base, row(self.train, self.build), self.built,
            pmui.Select.from_param(before, **FIELD),
            html(pn.bind(lambda how: say(CHANGES[how], "quiet"), before)),
            row(self.compare, self.stop), self.trouble, self.train_base,
            self.training, self.awaited,
            heading("Or start with a question"), *self.questions, *choices(store),
        ]  # fmt: skip
        self.sidebar = Sidebar(
            controls, list(self.views), lambda: f"{transfer.task}, {len(transfer.chosen)} strategies", self.halt,
            folded=False,
        )  # fmt: skip
        transfer.param.watch(self.sidebar.label, ["task", "chosen"])
        super().__init__(self.sidebar.layout)

    def poll(self) -> None:
        """Show what has changed; as one message, for a chart's values may else come before the chart that was sent."""
        self.store.compare_when_trained()
        with pn.io.hold():
            self._show()

    def _show_awaited(self) -> None:
        """How far the base is for which a question waits, in the place of the button that asked for it."""
        session = self.store.awaited_base
        self.training.visible = session is not None
        if session is None:
            self.awaited.object = ""
            return
        step, last = session.rows[-1].step if session.rows else 0, session.run.last or 1
        self.training.value = min(100, round(100 * step / last))
        name, state = session.run.corpus.name, "is paused" if session.state == "paused" else "is training"
        line = f"The base on {name} {state}: step {step:,} of {last:,}. Then the comparison begins."
        self.awaited.object = say(line, "quiet")

    def _show(self) -> None:
        store, transfer = self.store, self.store.transfer
        self.base.object = describe_base(store)
        self._show_building()
        self._show_awaited()
        trouble = transfer.trouble or transfer.running.error or ""
        self.trouble.object = say(trouble, "trouble") + say(transfer.notice, "notice")
        text = transfer.task_choice.text_for_base if transfer.unknown_words else ""
        offered = "this file" if isinstance(text, Path) else text
        self.train_base.param.update(visible=bool(text), label=f"Train a base on {offered}")
        running = transfer.trials.state == "running"
        if running and self.stop.disabled:
            self.sidebar.fold()  # so that the results are seen where it is narrow
        self.stop.disabled, self.halt.visible = not running, running
        for each in (self.compare, *self.questions):
            each.disabled = running or store.awaited_base is not None
        training, session = store.train.session, store.base
        self.train.disabled = training is not None and training.state == "running"
        if session is not None and session.learner is not None:
            transfer.shape = session.learner.model.shape
        for view in self.views:
            view.poll()

    def _show_building(self) -> None:
        """How far the ready-made base models are; when they are there, they are offered."""
        job = self.store.building
        if job.busy:
            self.built.object = say(f"Training base models: {job.share or 0.0:.0%} done.", "quiet")
        elif self.is_new(job.turn):
            missing = bool(self.store.missing)
            there = "" if missing else "Ready-made base models are in the menu above."
            self.built.object = say(there, "quiet") if job.error is None else say(str(job.error), "trouble")
            self.build.visible, self.store.built = missing, job.turn
            if job.turn and not missing and self.store.train.session is None and not self.store.transfer.base:
                self.store.transfer.base = next(base for base in self.store.bases().values() if base)
        self.build.disabled = job.busy


def ask(store: Store, question: str) -> None:
    """Choose all that a question needs and begin; a file of one's own stays the task."""
    values = ASKED | QUESTIONS[question]
    if store.transfer.task == OWN_FILE:
        del values["task"]
    store.transfer.param.update(**values)
    store.transfer.begin(store.base)
