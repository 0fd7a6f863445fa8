"""What all pages are made of: views, the layout of a page, buttons, fields and uploads."""

import io
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from playground.errors import UserError
from playground.glossary import hover
from widgets.bundle import sheet
from widgets.panel_compat import WrappingRow, upload_event
from widgets.theme import GROWING, html

SIDE, EDGE = sheet(__file__, "sidebar.css"), sheet(__file__, "sidebar_handle.css")
"""The drawer, and its handle in the gap between it and the picture."""

STRETCH = {"sizing_mode": "stretch_width"}
FIELD = {**STRETCH, "margin": (6, 10)}
SMALL = {"size": "small", "variant": "outlined"}
MAIN = {"size": "medium", "color": "primary", "variant": "contained"}


class View(pn.viewable.Viewer):
    """A part of a page: `layout` is what is shown, and `poll` brings it up to date several times a second."""

    _drawn: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, layout: Any) -> None:
        super().__init__()
        self.layout = layout

    def __panel__(self) -> Any:
        return self.layout

    def poll(self) -> None:
        """Show what has changed since the last call."""

    def is_new(self, now: Any, part: str = "") -> bool:
        """Whether what a part draws is not what it was at the last call; what stays is not drawn again."""
        before, self._drawn = self._drawn.get(part, ...), {**self._drawn, part: now}
        return now != before


class Sidebar(View):
    """A drawer of controls, 270 px and more on a very wide screen, and the picture in the rest.

    A handle at its edge hides the drawer. On a narrow screen the controls stand above the picture and fold away behind
    a button that says what is `chosen`; what is needed also then stands `near` that button.
    """

    def __init__(
        self, controls: list[Any], picture: list[Any], chosen: Callable[[], str], *near: Any, folded: bool = True
    ) -> None:
        self._chosen = chosen
        self._side = pn.Column(*controls, stylesheets=[GROWING, SIDE], margin=0)
        self._button = button("", lambda: self.fold(not self._side.css_classes), "tune", margin=(8, 10, 0, 10))
        self.fold(folded)
        icon = self._side.param.visible.rx().rx.where("chevron_left", "chevron_right")
        handle = pmui.IconButton(icon=icon, size="small", stylesheets=[EDGE], description="Hide or show the settings")
        handle.on_click(lambda _: self._side.param.update(visible=not self._side.visible))
        hidden = "@media (min-width: 901px) { :host { display: none !important; } }"
        top = pn.Row(self._button, *near, stylesheets=[hidden], styles={"flex": "1 1 100%"}, margin=0)
        main = column(*picture, styles={"flex": "1000 1 300px", "min-width": "0"})
        super().__init__(row(top, self._side, handle, main, align="flex-start", gap="6px 18px", **STRETCH))

    def fold(self, folded: bool = True) -> None:
        """Fold the controls of a narrow screen away, or bring them back."""
        self._side.param.update(css_classes=["folded"] if folded else [], visible=self._side.visible or not folded)
        self.label()

    def label(self, *_: object) -> None:
        """Renew the label of the button."""
        self._button.label = f"Settings: {self._chosen()}" if self._side.css_classes else "Hide settings"


class Column(pn.Column):
    """A column whose parts are sent when it is first shown, or `later`, by `send`; until then they cost nothing.

    A part may be a function, which is called only then and makes the part.
    """

    def __init__(self, *parts: Any, later: bool = False, **looks: Any) -> None:
        super().__init__(**looks)
        self._parts = parts
        self.param.watch(self.send, "visible")
        if self.visible and not later:
            self.send()

    def send(self, *_: object) -> None:
        """Send the parts, once."""
        if not self.sent:
            parts, self._parts = self._parts, ()
            self[:] = [part() if callable(part) else part for part in parts]

    @property
    def sent(self) -> bool:
        """Whether the parts were sent."""
        return not self._parts


def column(*parts: Any, **looks: Any) -> Column:
    """Parts below each other, as wide as there is room, without a margin."""
    return Column(*parts, **{"margin": 0, **STRETCH, **looks})


def row(*parts: Any, align: str = "center", **looks: Any) -> pn.FlexBox:
    """Controls beside each other that wrap where there is no room, without a margin."""
    return pn.FlexBox(*parts, **{"margin": 0, "align_items": align, **looks})


def beside(*parts: Any, basis: int = 340) -> WrappingRow:
    """Pictures beside each other that grow into what is left and wrap where there is no room."""
    for part in parts:
        part.styles = {**part.styles, "flex": f"1 1 {basis}px", "min-width": "280px"}
    styles = {"flex-wrap": "wrap", "align-items": "flex-start", "gap": "14px"}
    return WrappingRow(*parts, styles=styles, margin=0, **STRETCH)


def plot(chart: Any, **looks: Any) -> pn.pane.Bokeh:
    """The figure of a chart, as wide as there is room."""
    return pn.pane.Bokeh(chart.figure, **{**STRETCH, **looks})


def unfolding(label: str, icon: str, part: Any) -> Column:
    """A part of a page behind a button, sent when it is first unfolded."""
    inside = column(part, visible=False)
    toggle = pmui.Toggle(label=label, icon=icon, value=False, margin=(10, 10))
    toggle.param.watch(lambda event: inside.param.update(visible=event.new), "value")
    return column(toggle, inside)


def accordion(parts: Mapping[str, Any], **looks: Any) -> pmui.Accordion:
    """Parts of a page, each folded away behind its title and sent when it is first unfolded."""
    panes = [column(part, later=True) for part in parts.values()]
    look = {"disable_gutters": True, "elevation": 0, "title_variant": "body2", **STRETCH, **looks}
    made = pmui.Accordion(*zip(parts, panes, strict=True), active=[], **look)

    def unfold(event: Any) -> None:
        for number in event.new:
            panes[number].send()

    made.param.watch(unfold, "active")
    return made


def tabs(parts: Mapping[str, Any], active: int = 0, opened: Callable[[int], None] = lambda _: None) -> pmui.Tabs:
    """Parts of a page, one of which is shown; each is sent when it is first opened.

    `opened` is called before that with the number of the part, and brings it up to date: a field may miss what changes
    between when it is sent and when the library has drawn it.
    """
    panes = [column(part, later=number != active) for number, part in enumerate(parts.values())]
    made = pmui.Tabs(*zip(parts, panes, strict=True), active=active, **STRETCH)

    def turn(event: Any) -> None:
        opened(event.new)
        panes[event.new].send()

    made.param.watch(turn, "active")
    return made


def heading(text: str) -> pn.pane.HTML:
    """A small heading of our own words; pointing at it explains the terms in it."""
    return html(f'<div class="label"{hover(text)}>{text}</div>', margin=(0, 10))


def button(label: str, act: Callable[[], Any], icon: str = "", **looks: Any) -> pmui.Button:
    """A small outlined button, or one that looks otherwise, and what it does."""
    made = pmui.Button(label=label, icon=icon or None, **{**SMALL, **looks})
    made.on_click(lambda _: act())
    return made


def download(
    make: Callable[[], bytes], filename: str, label: str, refuse: Callable[[str], Any] = str, **looks: Any
) -> pmui.FileDownload:
    """A quiet button that hands over a file; one that cannot be made is refused in a sentence."""

    def content() -> io.BytesIO:
        try:
            return io.BytesIO(make())
        except UserError as refusal:
            refuse(str(refusal))
            return io.BytesIO(str(refusal).encode())

    made = pmui.FileDownload(callback=content, filename=filename, label=label, size="small")
    # as arguments the library takes these for the names of older versions and warns
    made.param.update(**{"color": "primary", "variant": "text", "margin": (0, 2), **looks})
    return made


def exports(files: Mapping[str, tuple[str, Callable[[], bytes]]]) -> pn.FlexBox:
    """A button for each file by its name: what stands on it, and what makes the file."""
    looks = {"variant": "outlined", "margin": (4, 4)}
    return row(*(download(make, name, label, **looks) for name, (label, make) in files.items()), margin=(0, 6))


def upload(
    label: str, keep: Callable[[list[tuple[str, bytes]]], Any], refuse: Callable[[str], Any], **looks: Any
) -> Any:
    """A button that hands over files by name and content; an empty one, which never arrives, is refused."""
    made, arrived = pmui.FileInput(label=label, margin=(6, 10), **looks), []

    def hear(event: Any) -> None:
        status, name = upload_event(event)
        if status == "upload_event":
            arrived.append(name)
        elif status == "finished":
            if not arrived:
                refuse("The file is empty; choose a file with text in it.")
            arrived.clear()

    def take(_: Any) -> None:
        names, contents = made.filename, made.value
        if contents:
            keep(list(zip(names, contents, strict=True)) if made.multiple else [(str(names), contents)])

    made.on_msg(hear)
    made.param.watch(take, "value")
    return made


def number(parameter: param.Parameter, kind: Any = pmui.IntInput, **looks: Any) -> Any:
    """A field for a number of a state; what the state refuses, as where it was emptied, is the last value again."""
    field = kind.from_param(parameter, **looks)
    last = field.value

    def show_again(event: Any) -> None:
        nonlocal last
        if event.type == "changed" and event.new == last:  # Panel has put it back, but the page has not heard of it
            pn.state.execute(lambda: field.param.trigger("value"), schedule=True)
        last = event.new

    field.param.watch(show_again, "value")
    return field


def typed(
    parameter: param.Parameter, enter: Callable[[], Any] | None = None, kind: Any = pmui.TextInput, **looks: Any
) -> Any:
    """A field for a text of a state, read at every key; what comes from elsewhere never interrupts who is typing.

    `enter` is what the key Enter does.
    """
    state, name = parameter.owner, parameter.name
    field = kind(label=parameter.label, value=getattr(state, name), **{**STRETCH, **looks})
    if enter is not None:
        field.param.watch(lambda _: enter(), "enter_pressed")

    def follow(event: Any) -> None:
        if field.value_input != event.new:
            field.param.update(value=event.new, value_input=event.new)

    field.param.watch(lambda event: state.param.update(**{name: event.new}), "value_input")
    state.param.watch(follow, name)
    return field
