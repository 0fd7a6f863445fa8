"""Which model's predictions stand on the stage, and what to do next: buttons and a sentence."""

from collections.abc import Callable
from functools import partial
from typing import Any

import panel_material_ui as pmui

from playground.errors import UserError
from widgets.pages.layout import View, button, row
from widgets.state.stage import answers, by_hand, loaded_model, suggestions
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
        self.streams = self._button("Next: why two streams?", partial(suggestions.two_streams, stage), "school")
        teach = partial(loaded_model.teach, stage)
        self.train = self._button(SMALL, teach, "play_arrow", description=f"{SMALL}: {NEW}")
        self.more = self._button(
            "Train longer", partial(loaded_model.teach_on, stage), "fast_forward",
            description=f"Train longer: a copy of this model takes {STEPS} more steps on this page.",
        )  # fmt: skip
        self.bundled = self._button("Use the model of the app", partial(loaded_model.attach_bundled, stage), "undo")
        self.trained = self._button("Use the model of the Train page", partial(loaded_model.attach_trained, stage))
        self.remove = self._button("Remove the model", lambda: loaded_model.attach(stage, None), variant="text")
        self.inside = self._button(INSIDE, partial(loaded_model.look_inside, stage))
        self.compared = self._button("Compare", partial(suggestions.compare, stage), "view_column")
        train_this = partial(suggestions.train_this, stage)
        self.whole = self._button("Train this", train_this, "show_chart", description=f"Train this: {RUN}")
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
        loaded_model.take(stage)
        self.unmask.visible = answers.unmasks(stage)
        busy, model, silent = stage.teaching.busy, stage.model is not None, bool(stage.silent)
        self.streams.visible = stage.objective != "PLM" and (bool(stage.compared) or (model and not stage.model.card))
        own = loaded_model.own(stage)
        free = not model or silent or own
        label = "Train a new one" if model else SMALL
        self.train.param.update(visible=not busy and free, label=label, description=f"{label}: {NEW}")
        self.train.disabled = self.more.disabled = bool(stage.inside)
        self.more.visible, self.bundled.visible = not busy and own and not silent, loaded_model.removed(stage)
        self.trained.visible = loaded_model.trained(stage) is not None and free
        self.remove.visible, self.inside.visible = model, model and not stage.model.changed
        self.compared.disabled, self.whole.disabled = bool(stage.inside), busy or bool(stage.inside)
        whole = f"Train the plain {stage.objective}" if by_hand.rules(stage) else "Train this"
        self.whole.param.update(label=whole, description=f"{whole}: {RUN}")
        self.inside.label = "Back to the sentence" if stage.inside else INSIDE
        alone, other = f"{stage.objective} alone", f"Compare with {suggestions.other(stage)}"
        self.compared.label = alone if stage.compared or stage.versions else other
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
