"""Which model predicts on the Stage page: one that was chosen, one that was trained here, or a bundled one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from playground.errors import UserError
from playground.tokenizing.words import clean, split_words
from widgets.state.stage.model import StageModel, bundled_model
from widgets.state.stage.samples import listed
from widgets.state.stage.texts import WORDS_OF_PLANS, read_texts, unknown

if TYPE_CHECKING:
    from widgets.state.stage.store import StageStore


class StageModels:
    """The models that were made for the page: small ones that were trained here, and bundled ones, by objective."""

    def __init__(self) -> None:
        self.small: dict[str, StageModel] = {}
        self.unreadable: dict[str, str] = {}
        self._bundled: dict[str, StageModel | None] = {}

    def bundled(self, name: str) -> StageModel | None:
        """The bundled model of an objective, read once in a visit; `unreadable` says why one is none."""
        if name not in self._bundled:
            try:
                self._bundled[name] = bundled_model(name)
            except UserError as refusal:
                self._bundled[name], self.unreadable[name] = None, str(refusal)
        return self._bundled[name]

    def made(self, model: StageModel) -> bool:
        """Whether a model is one of these."""
        return bool(model.card) or any(model is small for small in self.small.values())


def fit_bundled(stage: "StageStore", plan: Mapping[str, Any]) -> None:
    """Bring the bundled model; it goes where it lacks words of the texts or the plan, so that all are shown."""
    stage.model, stage.without_model = (
        model_of(stage, stage.objective),
        stage.models.unreadable.get(stage.objective, ""),
    )
    texts = split_words(clean(" ".join(read_texts(stage))))
    new = unknown(stage, [*texts, *(word for key in WORDS_OF_PLANS for word in plan.get(key, ()))])
    if new and stage.model is not None:
        stage.without_model = f"{stage.model.name} does not know {listed(new)}, so it predicts nothing here."
        stage.model = None


def model_of(stage: "StageStore", name: str) -> StageModel | None:
    """A small model that was trained for an objective, else the one that was chosen, else the bundled one."""
    chosen = stage.model is not None and not stage.model.card
    return stage.models.small.get(name) or (stage.model if chosen else _bundled(stage, name))


def model_beside(stage: "StageStore", name: str) -> StageModel | None:
    """The model of an objective beside: of that very objective where there is one, else the same."""
    return None if stage.model is None else model_of(stage, name) or stage.model


def _bundled(stage: "StageStore", name: str) -> StageModel | None:
    """The bundled model of an objective, only where one objective is shown."""
    return stage.models.bundled(name) if stage.bundled and stage.view != "table" else None
