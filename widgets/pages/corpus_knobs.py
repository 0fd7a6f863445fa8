"""The knobs of a generated corpus, a control for each; where the chosen corpus has none there is nothing to see."""

from typing import Any

import panel_material_ui as pmui
import param

from playground.corpora.sources import source_knobs
from playground.errors import Refusal
from playground.knob import Knob, check
from widgets.pages.layout import control
from widgets.state.corpus_choice import CorpusChoice


def corpus_knobs(store: CorpusChoice) -> pmui.Column:
    """A control for each knob of the corpus that a store has chosen."""
    column = pmui.Column(margin=0, visible=False, sizing_mode="stretch_width")
    shown: dict[str, Any] = {"corpus": "", "controls": {}}

    def renew(*_: object) -> None:
        corpus = getattr(store, store.chosen_by)
        if corpus != shown["corpus"]:
            controls = {k.name: _control(store, corpus, k) for k in source_knobs(corpus)}
            shown.update(corpus=corpus, controls=controls)
            column.param.update(objects=list(controls.values()), visible=bool(controls))
        for k in source_knobs(corpus):
            _follow(shown["controls"][k.name], _now(store, corpus, k))

    store.param.watch(renew, [store.chosen_by, "corpus_knobs"])
    renew()
    return column


def _control(store: CorpusChoice, corpus: str, k: Knob) -> Any:
    """The control of one knob; a slider is heard when it is let go, since each value is another corpus."""
    widget = control(k)
    if isinstance(widget, pmui.FloatSlider) and k.unit.startswith("share"):
        widget.format = "0%"

    def turn(event: Any) -> None:
        now = _now(store, corpus, k)
        try:
            to = check(k, event.new)
        except Refusal:  # of a page that was changed
            _follow(widget, now)
            return
        if to != now:
            turned = store.corpus_knobs.get(corpus, {}) | {k.name: to}
            store.corpus_knobs = store.corpus_knobs | {corpus: turned}

    widget.param.watch(turn, _heard(widget))
    return widget


def _heard(widget: Any) -> str:
    return "value_throttled" if "value_throttled" in widget.param else "value"


def _now(store: CorpusChoice, corpus: str, k: Knob) -> Any:
    """Where a knob stands."""
    return store.corpus_knobs.get(corpus, {}).get(k.name, k.default)


def _follow(widget: Any, now: Any) -> None:
    """Show where a knob stands, also where a link or the way back turned it."""
    if widget.value != now or getattr(widget, _heard(widget)) != now:
        with param.edit_constant(widget):
            widget.param.update(**{"value": now, _heard(widget): now})
