"""How every page is laid out: controls at the side, the picture beside them, below each other where it is narrow."""

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from playground.glossary import hover
from playground.knob import Knob
from widgets.panel_compat import upload_event
from widgets.theme import GROWING, html

WIDE, NARROW = "@media (min-width: 901px)", "@media (max-width: 900px)"
SIDE = f"""
:host {{ flex: 1 1 250px; max-width: 300px !important; }}
{GROWING}
{NARROW} {{ :host {{ flex: 1 1 100%; max-width: none !important; }} :host(.folded) {{ display: none !important; }} }}
"""


class Folding:
    """Controls of 270 px, larger on a very wide screen, and the picture in the rest.

    On a narrow screen the controls stand above the picture and fold away behind a button that says what is `chosen`;
    what is needed also then stands `near` that button.
    """

    def __init__(
        self, controls: list[Any], picture: list[Any], chosen: Callable[[], str], folded: bool = True, near: Any = None
    ) -> None:
        self._chosen = chosen
        self._side = pn.Column(*controls, stylesheets=[SIDE], margin=0)
        self._button = pmui.Button(icon="tune", size="small", variant="outlined", margin=(8, 10, 0, 10))
        self._button.on_click(lambda _: self.fold(not self._side.css_classes))
        self.fold(folded)
        hidden = f"{WIDE} {{ :host {{ display: none !important; }} }}"
        parts = [self._button] if near is None else [self._button, near]
        top = pn.Row(*parts, stylesheets=[hidden], styles={"flex": "1 1 100%"}, margin=0)
        main = pmui.Column(
            *picture, styles={"flex": "1000 1 300px", "min-width": "0"}, margin=0, sizing_mode="stretch_width"
        )
        self.pane = pn.FlexBox(
            top, self._side, main, flex_wrap="wrap", gap="6px 18px", align_items="flex-start",
            sizing_mode="stretch_width",
        )  # fmt: skip

    def fold(self, folded: bool = True) -> None:
        """Fold the controls away, or bring them back; where the screen is wide nothing is seen of it."""
        self._side.css_classes = ["folded"] if folded else []
        self.say()

    def say(self, *_: object) -> None:
        """Renew what the button says."""
        label = f"{self._chosen()}: change" if self._side.css_classes else "Fold the choices away"
        if self._button.label != label:
            self._button.label = label


def beside(*parts: Any, basis: int = 340) -> pn.FlexBox:
    """Pictures beside each other that wrap where there is no room."""
    grown = [growing(part, basis) for part in parts]
    return pn.FlexBox(*grown, flex_wrap="wrap", gap="14px", align_items="flex-start", sizing_mode="stretch_width")


def growing(part: Any, basis: int = 340) -> Any:
    """A picture that shares a row with its neighbours and grows into what is left."""
    part.styles = {**part.styles, "flex": f"1 1 {basis}px", "min-width": "280px"}
    return part


def heading(text: str) -> pn.pane.HTML:
    """A small heading of our own words; pointing at it explains the terms in it."""
    return html(f'<div class="label"{hover(text)}>{text}</div>', margin=(0, 10))


def download(make: Callable[[], Any], filename: str, label: str, description: str = "") -> Any:
    """A quiet button that hands over a file.

    Its looks are set once it is there: as arguments the library takes them for those of its older names and warns.
    """
    button = pmui.FileDownload(
        callback=make, filename=filename, label=label, description=description, size="small", margin=(0, 2)
    )
    button.param.update(color="primary", variant="text")
    return button


def control(k: Knob) -> Any:
    """The widget that fits a knob: switch, choice or slider, with its reason as help."""
    label, shared = k.name.replace("_", " ").split(".")[-1], {"description": k.why, "margin": (6, 10)}
    if isinstance(k.default, bool):
        return pmui.Switch(label=label, value=k.default, **shared)
    if k.choices:
        return pmui.Select(label=label, options=list(k.choices), value=k.default, sizing_mode="stretch_width", **shared)
    label = f"{label} ({k.unit})" if k.unit else label
    if isinstance(k.default, int):
        return pmui.IntSlider(
            label=label,
            start=int(k.low or 0),
            end=int(k.high or 10),
            value=k.default,
            sizing_mode="stretch_width",
            **shared,
        )
    low, high = float(k.low or 0.0), float(k.high or 1.0)
    step = 0.01 if high <= 1 else 0.1
    return pmui.FloatSlider(
        label=label,
        start=low,
        end=high,
        step=step,
        value=k.default,
        format="0.00",
        sizing_mode="stretch_width",
        **shared,
    )


def limits(store: Any, name: str) -> dict[str, Any]:
    """Where the field for a number of a store begins and ends."""
    low, high = store.param[name].get_soft_bounds()
    return {"start": low, "end": high}


def takes(parameter: param.Parameter, value: Any) -> bool:
    """Whether a number of a store may have a value; what is no number is for the store itself to judge."""
    if not isinstance(parameter, param.Integer):
        return True
    low, high = parameter.bounds or (None, None)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and (low is None or value >= low) and (high is None or value <= high)


def bind(widget: Any, store: Any, name: str) -> None:
    """Keep a widget's value and one value of a store the same, whoever changes it.

    A number that the store does not take, of a field that was emptied or of a page that was changed, goes again.
    """

    def take(event: Any) -> None:
        if takes(store.param[name], event.new):
            store.param.update(**{name: event.new})
        else:
            widget.value = getattr(store, name)
            pn.state.execute(lambda: widget.param.trigger("value"), schedule=True)  # the page hears it afterwards

    widget.param.watch(take, "value")
    store.param.watch(lambda _: widget.param.update(value=getattr(store, name)), name)


def refuse_nothing(upload: Any, refuse: Callable[[str], Any]) -> None:
    """Say that a file is empty: it arrives as none at all, the browser begins, sends nothing and has finished."""
    arrived: list[str] = []

    def hear(event: Any) -> None:
        status, name = upload_event(event)
        if status == "upload_event":
            arrived.append(name)
        elif status == "finished":
            if not arrived:
                refuse("The file is empty; choose a file with text in it.")
            arrived.clear()

    upload.on_msg(hear)
