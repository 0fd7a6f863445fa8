"""The served app: one page per visit with four rooms, one drain, and an end when the visit ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import panel as pn
import panel_material_ui as pmui

from widgets.app import first_paint, limits
from widgets.app.invalid_events import say_in_a_line
from widgets.app.polling import drain
from widgets.app.session import after_the_answer
from widgets.browser.accessibility import Care
from widgets.browser.busy import busy
from widgets.browser.color_scheme import Night, scheme
from widgets.browser.commit_before_click import Press
from widgets.browser.history import Turned
from widgets.browser.reconnect import lost
from widgets.browser.shortcuts import keys
from widgets.pages import corpus, stage, train, transfer
from widgets.panel_compat import end, is_held, without_the_common_busy_sign
from widgets.state.app import SCENE, StageStore, Store
from widgets.state.train import runs_folder
from widgets.theme import LARGER, SKY, html, say
from widgets.tokens import TOKENS

pn.extension()
say_in_a_line()

MOST_VISITS = 40
"""Visits at the same time; each may train one model."""

WORDING = {"button": {"textTransform": "none"}}
LARGE_TYPE = {f"@media (min-width: {px}px)": {"fontSize": f"{0.875 * times}rem"} for px, times in LARGER.items()}
LARGE_BAR = {f"@media (min-width: {px}px)": {"zoom": times} for px, times in LARGER.items()}
AS_MEASURED, AS_LARGE = {"zoom": "calc(1 / var(--larger, 1))"}, {"zoom": "var(--larger, 1)"}
"""What opens beside a control is placed in pixels of the screen; only what it holds is as large as the control."""

GONE_AT_ONCE = {"enter": 200, "exit": 0}
"""A list that fades away after its choice would still take the next press, which was meant for what is below it."""

SHAPES = {
    "MuiPopover": {"styleOverrides": {"root": AS_MEASURED}},
    "MuiMenu": {"styleOverrides": {"list": AS_LARGE}, "defaultProps": {"transitionDuration": GONE_AT_ONCE}},
    "MuiTooltip": {"styleOverrides": {"popper": AS_MEASURED, "tooltip": AS_LARGE}},
    "MuiToolbar": {"styleOverrides": {"root": {"minHeight": "46px !important", "margin": "4px", **LARGE_BAR}}},
    "MuiTab": {"styleOverrides": {"root": {"minHeight": "40px", **LARGE_TYPE}}},
    "MuiTabs": {"styleOverrides": {"root": {"minHeight": "40px"}}},
}
HEAD = {"& > .MuiLinearProgress-root": {"visibility": "hidden"}}
"""The library's own sign of work, which it draws also where it is told not to; it follows nobody, `busy` does."""

DAY = {"MuiAppBar": {"styleOverrides": {"root": HEAD}}}
NIGHT = {"MuiAppBar": {"styleOverrides": {"root": {**HEAD, "backgroundColor": "#16293a", "color": "#e8f1f8"}}}}
THEME = {
    "light": {
        "palette": {"primary": {"main": TOKENS["palette"]["blue"]}},
        "typography": WORDING,
        "components": SHAPES | DAY,
    },
    "dark": {"palette": {"primary": {"main": SKY}}, "typography": WORDING, "components": SHAPES | NIGHT},
}

_visits: dict[int, Any] = {}
"""The visits that are there, with their documents."""


def app(runs: Path | None = None) -> Any:
    """A fresh visit; its training is kept in the folder `runs`, by default where the app was started."""
    if len(_visits) >= MOST_VISITS:
        for visit in _visits.values():
            if visit is not None and not is_held(visit):
                end(visit)
        return pmui.Page(title="Pretraining Playground", main=["The server is full; try again in a minute."])
    store = Store(runs or runs_folder())
    limits.fit(store.train)
    _visits[id(store)] = pn.state.curdoc
    if pn.state.location is not None:
        _link(store)
    tabs, drained = _rooms(store)
    drain(drained)
    if pn.state.curdoc is not None:
        shown = list(ROOMS)[store.page]
        opening = first_paint.page(coming(shown)) if store.page else first_paint.first(store.stage)
        pn.state.curdoc.template_variables.update(first=opening, scheme=scheme())

    def gone(session_context: Any) -> None:
        _visits.pop(id(store), None)
        store.close()

    pn.state.on_session_destroyed(gone)
    parts = [
        *(html(say(said, "notice")) for said in limits.told()),
        tabs,
        *(each(height=0, margin=0) for each in (Care, Press, Turned, Night)),
        busy(),
        lost(store),
        keys(store),
    ]
    return without_the_common_busy_sign(
        lambda: pmui.Page(
            title="Pretraining Playground",
            main=parts,
            main_width="100%",
            theme_config=THEME,
            dark_theme=scheme() == "dark",
            template=first_paint.TEMPLATE,
        )
    )


ROOMS: dict[str, Callable[[Store], tuple[Any, Callable[[], None]]]] = {
    "Stage": lambda store: stage.page(store.stage),
    "Train": lambda store: train.page(store.train, looking=lambda: store.page == 1, slow=store.slow),
    "Transfer": transfer.page,
    "Corpus": lambda store: corpus.page(store, looking=lambda: store.page == 3),
}
"""Each page with its tick, by the name of its tab."""


COMING = {
    "Stage": "the sentence, the list of objectives, and the picture of one",
    "Train": "what can be chosen, the curves, and the runs that are kept",
    "Transfer": "what can be chosen, the questions, and the charts",
    "Corpus": "the texts to choose from, one document, and the pieces into which it is cut",
}
"""What each page holds, said while it is being made."""


def coming(name: str) -> str:
    """A line that stands where a page will stand."""
    return say(f"{name} is being made: {COMING[name]}.", "quiet")


def _rooms(store: Store) -> tuple[Any, Callable[[], None]]:
    """The tabs, and the ticks of all pages that were opened: a page is made when somebody first comes to it."""
    places = [pn.Column(html(coming(name)), sizing_mode="stretch_width", margin=0) for name in ROOMS]
    tabs = pmui.Tabs(*zip(ROOMS, places, strict=True), sizing_mode="stretch_width")
    ticks: dict[int, Callable[[], None]] = {}

    def enter(number: int) -> None:
        if number not in ticks:
            page, tick = list(ROOMS.values())[number](store)
            tick()  # what it has to say stands there from the beginning, and pushes nothing away later
            places[number][:] = [page]
            ticks[number] = tick
        tabs.active = number

    def drained() -> None:
        for tick in tuple(ticks.values()):  # a tick may open another page
            tick()

    after_the_answer(lambda: enter(store.page))
    tabs.param.watch(lambda event: store.param.update(page=event.new), "active")
    store.param.watch(lambda event: enter(event.new), "page")
    return tabs, drained


def _link(store: Store) -> None:
    """Keep what is on screen in the address, so that it can be shared, and follow Back and Forward of the browser."""
    location = pn.state.location
    turning = False

    def tell(*_: object) -> None:
        if not turning:
            location.search = _address(store)

    def turn(event: Any) -> None:
        nonlocal turning
        if event.new != _address(store):  # the browser has changed it, not we
            turning = True
            try:
                _open(store, event.new)
            finally:
                turning = False

    _open(store, location.search)
    store.param.watch(tell, "page")
    store.stage.param.watch(tell, [*SCENE, "rebuilt", "view"])
    for chosen in (store.train, store.corpus):
        chosen.param.watch(tell, [chosen.chosen_by, "corpus_knobs"])
    location.param.watch(turn, "search")


def _address(store: Store) -> str:
    """What is on screen, as the query of an address."""
    page = {"page": str(store.page)} if store.page else {}
    stage = store.stage.query() | page or {"view": "stage"}
    return f"?{urlencode(stage | store.train.query() | store.corpus.query())}"


def _open(store: Store, address: str) -> None:
    """Bring back what an address says; what it does not say is as in a fresh visit."""
    asked = dict(parse_qsl(address.removeprefix("?"), keep_blank_values=True))
    asked = asked if set(asked) - {"page", "corpus", "source"} else {**asked, "view": "table"}
    fresh = StageStore()
    fresh.open(asked)
    store.stage.open({name: str(getattr(fresh, name)) for name in ("text", "pair", "plan", "seed")} | asked)
    store.train.choose_corpus(asked.get("corpus", ""))
    store.corpus.choose_corpus(asked.get("source", ""))
    store.page = int(asked["page"]) if asked.get("page") in ("1", "2", "3") else 0
