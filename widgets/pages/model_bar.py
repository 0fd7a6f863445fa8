"""Which model's predictions stand on the stage, and what to do next: buttons and a sentence."""

from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui

from playground.errors import UserError
from widgets.pages.layout import View, button, row
from widgets.state.stage.model import STEPS
from widgets.state.stage.store import StageStore
from widgets.theme import html, say

INSIDE, SMALL = "Step through one update", "Train a small model now"
RUN = "a full run of this objective with its knobs; opens the Train page and starts."
NEW = f"{STEPS} steps from scratch on this page, to see attention, predictions and loss."


class ModelBar(View):
    """A row; buttons that come and go stand behind those that stay, so that none moves away under a pointer."""

    def __init__(self, stage: StageStore) -> None:
        self.stage = stage
        self.status = html("", margin=(0, 10), styles={"flex": "1 1 380px"})
        self.streams = self._button("Next: why two streams?", stage.two_streams, "school")
        self.train = self._button(SMALL, stage.teach, "play_arrow", description=f"{SMALL}: {NEW}")
        self.more = self._button(
            "Train longer", stage.teach_on, "fast_forward",
            description=f"Train longer: a copy of this model takes {STEPS} more steps on this page.",
        )  # fmt: skip
        self.bundled = self._button("Use the model of the app", stage.attach_bundled, "undo")
        self.trained = self._button("Use the model of the Train page", stage.attach_trained)
        self.remove = self._button("Remove the model", lambda: stage.attach(None), variant="text")
        self.inside = self._button(INSIDE, stage.look_inside)
        self.compared = self._button("Compare", stage.compare, "view_column")
        self.whole = self._button("Train this", stage.train_this, "show_chart", description=f"Train this: {RUN}")
        self.unmask = pmui.Select.from_param(stage.param.unmask, width=130, size="small", margin=(0, 6))
        models = (self.unmask, self.more, self.train, self.bundled, self.trained, self.remove)
        parts = (self.whole, self.compared, *models, self.inside, self.streams, self.status)
        super().__init__(row(*parts, styles={"flex": "1 1 400px"}))
        self.poll()

    def _button(self, label: str, act: Callable[[], Any], icon: str = "", **looks: Any) -> Any:
        def press() -> None:
            try:
                act()
            except UserError as refusal:
                self.stage.trouble = str(refusal)
            self.poll()

        return button(label, press, icon, **{"margin": (3, 4), **looks})

    def poll(self) -> None:
        stage = self.stage
        stage.take()
        self.unmask.visible = stage.unmasks
        busy, model, silent = stage.teaching.busy, stage.model is not None, bool(stage.silent)
        self.streams.visible = stage.objective != "PLM" and (bool(stage.compared) or (model and not stage.model.card))
        free = not model or silent or stage.own
        label = "Train a new one" if model else SMALL
        self.train.param.update(visible=not busy and free, label=label, description=f"{label}: {NEW}")
        self.train.disabled = self.more.disabled = bool(stage.inside)
        self.more.visible, self.bundled.visible = not busy and stage.own and not silent, stage.removed
        self.trained.visible = stage.trained is not None and free
        self.remove.visible, self.inside.visible = model, model and not stage.model.changed
        self.compared.disabled, self.whole.disabled = bool(stage.inside), busy or bool(stage.inside)
        whole = f"Train the plain {stage.objective}" if stage.rules else "Train this"
        self.whole.param.update(label=whole, description=f"{whole}: {RUN}")
        self.inside.label = "Back to the sentence" if stage.inside else INSIDE
        self.compared.label = (
            f"{stage.objective} alone" if stage.compared or stage.versions else f"Compare with {stage.other}"
        )
        self.status.object = _status(stage)


def _status(stage: StageStore) -> str:
    if stage.teaching.busy:
        share = stage.teaching.share or 0.0
        if stage.compared:
            return say(f"Small models of the objectives on the stage are training: {share:.0%} done.", "quiet")
        return say(f"A small {stage.objective} model is training: step {round(STEPS * share)} of {STEPS}.", "quiet")
    if stage.teaching.error is not None:
        return say(stage.teaching.error, "trouble")
    if stage.silent:
        return say(stage.silent, "notice")
    if stage.model is None:
        return say("No model loaded; attention, predictions and loss are hidden.", "quiet")
    return say(f"{stage.model.card or f'The numbers are from {stage.model.name}'}.", "quiet")
