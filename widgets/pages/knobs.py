"""Controls for the knobs of what is chosen: an objective on the Stage, a generated corpus or a model on other pages."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import panel_material_ui as pmui
import param

from playground.errors import UserError
from playground.knob import Knob, check, knobs
from playground.models import Architecture
from widgets.pages.layout import STRETCH, View, column, row
from widgets.state.corpus_choice import CorpusChoice
from widgets.state.train import choice
from widgets.state.train.store import TrainStore

RECURRENT = ("kind", "layers", "width", "embedding_size", "dropout", "weight_drop", "init")
TRANSFORMER = (
    "kind", "layers", "width", "heads", "mlp_ratio", "embedding_size", "layer_sharing", "positions", "norm_first",
    "norm", "embedding_norm", "activation", "attention_bias", "dropout", "init", "mem_len", "attention_window",
)  # fmt: skip
"""The knobs of a model that a page shows, by what it is; word vectors have their width alone."""
OTHERS = ("transformer", "lstm", "gru")
"""The kinds that take the place of each other."""

LONGEST_TEXT = 20_000
"""Characters of a text that a knob takes, as many as are read of a typed text."""

SIZES = {
    "width": (16, 32, 48, 64, 96, 128, 192, 256),
    "heads": (1, 2, 4, 8),
    "mlp_ratio": (1, 2, 3, 4, 6, 8),
    "embedding_size": (0, 8, 16, 32, 64),
    "mem_len": (0, 16, 32, 64),
    "attention_window": (0, 8, 16, 32, 64),
}
"""What fits together, of knobs that may have many values."""


class Knobs(View):
    """A control for each of the `knobs`, which a link and undo may turn too; nothing is seen where there are none.

    `turn` is called with a name and its new value. With `throttled`, sliders are heard when they are let go. The
    controls stand below each other, or `beside` each other as far as there is room.
    """

    def __init__(
        self, state: param.Parameterized, watched: list[str], knobs: Callable[[], Mapping[str, Knob]],
        values: Callable[[], Mapping[str, Any]], turn: Callable[[str, Any], None],
        throttled: bool = False, beside: bool = False,
    ) -> None:  # fmt: skip
        self.knobs, self.values, self.turn, self.throttled, self.beside = knobs, values, turn, throttled, beside
        self.shown: Mapping[str, Knob] = {}
        self.controls: dict[str, Any] = {}
        super().__init__(row(gap="2px 14px", **STRETCH) if beside else column())
        state.param.watch(self._renew, watched)
        self._renew()

    def _renew(self, *_: object) -> None:
        knobs = self.knobs()
        if knobs != self.shown:
            self.shown, self.controls = knobs, {name: self._control(name, k) for name, k in knobs.items()}
            self.layout[:] = list(self.controls.values())
        self.layout.visible = bool(self.layout.objects)
        for name, widget in self.controls.items():
            self._show(widget, self._now(name))

    def _now(self, name: str) -> Any:
        return self.values().get(name, self.shown[name].default)

    def _heard(self, widget: Any) -> str:
        return "value_throttled" if self.throttled and "value_throttled" in widget.param else "value"

    def _show(self, widget: Any, value: Any) -> None:
        if widget.value != value or getattr(widget, self._heard(widget)) != value:
            with param.edit_constant(widget):
                widget.param.update(**{"value": value, self._heard(widget): value})

    def _control(self, name: str, k: Knob) -> Any:
        widget = control(k)
        if self.beside:
            widget.styles = {"flex": "1 1 200px", "max-width": "420px"}
        if self.throttled and isinstance(widget, pmui.FloatSlider) and k.unit.startswith("share"):
            widget.format = "0%"

        def turn(event: Any) -> None:
            try:
                value = check(k, event.new)
            except UserError:  # of a page that was changed
                self._show(widget, self._now(name))
                return
            if value != self._now(name):
                self.turn(name, value)

        widget.param.watch(turn, self._heard(widget))
        return widget


def corpus_knobs(state: CorpusChoice) -> Knobs:
    """The knobs of the corpus that a state has chosen; each value is another corpus."""

    def turn(name: str, value: Any) -> None:
        corpus, known = getattr(state, state.chosen_by), state.corpus_knobs
        state.corpus_knobs = known | {corpus: known.get(corpus, {}) | {name: value}}

    return Knobs(
        state, [state.chosen_by, "corpus_knobs"],
        lambda: {k.name: k for k in state.known_knobs},
        lambda: state.corpus_knobs.get(getattr(state, state.chosen_by), {}), turn, throttled=True,
    )  # fmt: skip


def model_knobs(train: TrainStore) -> Knobs:
    """The knobs of the model that is chosen to be trained, as its entry and the recipe have them."""

    def shown() -> dict[str, Knob]:
        model = choice.declared(train).model
        kind = train.shapes.get(train.entry, {}).get("kind", model.kind)
        names = {"static": ("width",), "transformer": TRANSFORMER}.get(kind, RECURRENT)
        return {k.name: _as_in(k, model) for k in knobs(model) if k.name in names}

    def turn(name: str, value: Any) -> None:
        train.shapes = train.shapes | {train.entry: train.shapes.get(train.entry, {}) | {name: value}}

    return Knobs(
        train, ["entry", "preset", "shapes"], shown, lambda: train.shapes.get(train.entry, {}), turn, throttled=True
    )


def _as_in(k: Knob, model: Architecture) -> Knob:
    """A knob that begins where a model has it, with few sizes to choose from."""
    value = getattr(model, k.name)
    if k.name == "kind":
        return replace(k, default=value, choices=(value,) if value == "static" else (*OTHERS, *{value} - {*OTHERS}))
    sizes = SIZES.get(k.name, ())
    return replace(k, default=value, choices=tuple(sorted({*sizes, value})) if sizes else k.choices)


def control(k: Knob) -> Any:
    """The widget that fits a knob: switch, choice or slider, with its reason as help."""
    label = k.name.replace("_", " ").split(".")[-1]
    shared: dict[str, Any] = {"description": k.why, "value": k.default, "margin": (6, 10)}
    if isinstance(k.default, bool):
        return pmui.Switch(label=label, **shared)
    shared |= STRETCH
    if k.choices:
        return pmui.Select(label=label, options=list(k.choices), **shared)
    label = f"{label} ({k.unit})" if k.unit not in ("", label) else label
    if k.lines > 1:
        return pmui.TextAreaInput(label=label, rows=k.lines, max_length=LONGEST_TEXT, size="small", **shared)
    if isinstance(k.default, str):
        return pmui.TextInput(label=label, size="small", **shared)
    if isinstance(k.default, int):
        return pmui.IntSlider(label=label, start=int(k.low or 0), end=int(k.high or 10), **shared)
    low, high = float(k.low or 0.0), float(k.high or 1.0)
    step = 0.01 if high <= 1 else 0.1
    return pmui.FloatSlider(label=label, start=low, end=high, step=step, format="0.00", **shared)
