"""The served app: one page per visit with four rooms, one drain, and an end when the visit ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import panel as pn
import panel_material_ui as pmui

from widgets.first import TEMPLATE, first
from widgets.live import drain
from widgets.pages import corpus, stage, train, transfer
from widgets.scene.care import Care
from widgets.store import SCENE, Store
from widgets.training import runs_folder
from widgets.typed import Typed

pn.extension()

MOST_VISITS = 40
"""Visits at the same time; each may train one model."""

WORDING = {"button": {"textTransform": "none"}}
SHAPES = {
    "MuiToolbar": {"styleOverrides": {"root": {"minHeight": "46px !important"}}},
    "MuiTab": {"styleOverrides": {"root": {"minHeight": "40px"}}},
    "MuiTabs": {"styleOverrides": {"root": {"minHeight": "40px"}}},
}
NIGHT = {"MuiAppBar": {"styleOverrides": {"root": {"backgroundColor": "#16293a", "color": "#e8f1f8"}}}}
THEME = {
    "light": {"palette": {"primary": {"main": "#0072b2"}}, "typography": WORDING, "components": SHAPES},
    "dark": {"palette": {"primary": {"main": "#56b4e9"}}, "typography": WORDING, "components": SHAPES | NIGHT},
}

_visits: set[int] = set()


def app(runs: Path | None = None) -> Any:
    """A fresh visit; its training is kept in the folder `runs`, by default where the app was started."""
    if len(_visits) >= MOST_VISITS:
        return pmui.Page(title="Pretraining Playground", main=["All places are taken; come back in a minute."])
    store = Store(runs or runs_folder())
    _visits.add(id(store))
    if pn.state.location is not None:
        _link(store)
    tabs, drained = _rooms(store)
    drain(drained)
    if pn.state.curdoc is not None:
        pn.state.curdoc.template_variables["first"] = first(store.stage) if store.page == 0 else ""

    def gone(session_context: Any) -> None:
        _visits.discard(id(store))
        store.close()

    pn.state.on_session_destroyed(gone)
    return pmui.Page(
        title="Pretraining Playground",
        main=[tabs, Care(height=0, margin=0), Typed(height=0, margin=0)],
        main_width="100%",
        theme_config=THEME,
        template=TEMPLATE,
    )


ROOMS: dict[str, Callable[[Store], tuple[Any, Callable[[], None]]]] = {
    "Stage": lambda store: stage.page(store.stage),
    "Train": lambda store: train.page(store.train, looking=lambda: store.page == 1, slow=store.slow),
    "Transfer": transfer.page,
    "Corpus": lambda store: corpus.page(store, looking=lambda: store.page == 3),
}
"""Each page with its tick, by the name of its tab."""


def _rooms(store: Store) -> tuple[Any, Callable[[], None]]:
    """The tabs, and the ticks of all pages that were opened: a page is made when somebody first comes to it."""
    places = [pn.Column(sizing_mode="stretch_width", margin=0) for _ in ROOMS]
    tabs = pmui.Tabs(*zip(ROOMS, places, strict=True), sizing_mode="stretch_width")
    ticks: list[Callable[[], None]] = []

    def enter(number: int) -> None:
        if not places[number].objects:
            page, tick = list(ROOMS.values())[number](store)
            places[number].append(page)
            ticks.append(tick)
        tabs.active = number

    def drained() -> None:
        for tick in tuple(ticks):  # a tick may open another page
            tick()

    enter(store.page)
    tabs.param.watch(lambda event: store.param.update(page=event.new), "active")
    store.param.watch(lambda event: enter(event.new), "page")
    return tabs, drained


def _link(store: Store) -> None:
    """Keep what is on screen in the address, so that it can be shared."""
    location = pn.state.location
    asked = dict(parse_qsl(location.search.removeprefix("?"), keep_blank_values=True))
    store.stage.open(asked if set(asked) - {"page"} else {**asked, "view": "table"})
    store.page = int(asked["page"]) if asked.get("page") in ("1", "2", "3") else 0

    def tell(*_: object) -> None:
        told = store.stage.query() | ({"page": str(store.page)} if store.page else {}) or {"view": "stage"}
        location.search = f"?{urlencode(told)}" if told else ""

    store.param.watch(tell, "page")
    store.stage.param.watch(tell, [*SCENE, "rebuilt", "view"])
