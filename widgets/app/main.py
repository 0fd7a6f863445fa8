"""The served app: four pages in tabs, kept in the address, polled by one callback, and ended with the visit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import panel as pn
import panel_material_ui as pmui

from widgets import browser
from widgets.app import first_paint, limits
from widgets.app.invalid_events import say_in_a_line
from widgets.app.session import after_the_answer, poll
from widgets.pages.corpus import CorpusPage
from widgets.pages.layout import View, column
from widgets.pages.stage import StagePage
from widgets.pages.train import TrainPage
from widgets.pages.transfer import TransferPage
from widgets.panel_compat import end, is_held, without_the_common_busy_sign
from widgets.state.app import Store
from widgets.state.stage import SCENE, StageStore
from widgets.state.train.kept_runs import runs_folder
from widgets.theme import LARGER, html, say
from widgets.tokens import SKY, TOKENS

pn.extension()
say_in_a_line()

MOST_VISITS = 40  # visits at the same time; each may train one model

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
"""The library's own busy indicator, which it draws also where it is switched off; ours is `busy`."""

DAY = {"MuiAppBar": {"styleOverrides": {"root": HEAD}}}
NIGHT = {"MuiAppBar": {"styleOverrides": {"root": {**HEAD, "backgroundColor": "#16293a", "color": "#e8f1f8"}}}}
THEME = {
    mode: {"palette": {"primary": {"main": colour}}, "typography": WORDING, "components": SHAPES | bar}
    for mode, colour, bar in (("light", TOKENS["palette"]["blue"], DAY), ("dark", SKY, NIGHT))
}

_visits: dict[int, Any] = {}  # the visits that are there, with their documents


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
    tabs = Tabs(store)
    poll(tabs.poll)
    if pn.state.curdoc is not None:
        shown = list(PAGES)[store.page]
        opening = first_paint.page(coming(shown)) if store.page else first_paint.first(store.stage)
        pn.state.curdoc.template_variables.update(first=opening, scheme=browser.scheme())

    def gone(session_context: Any) -> None:
        _visits.pop(id(store), None)
        store.close()

    pn.state.on_session_destroyed(gone)
    unseen = (browser.Accessibility, browser.CommitBeforeClick, browser.BrowserHistory, browser.ColorScheme)
    parts = [
        *(html(say(sentence, "notice")) for sentence in limits.notices()), tabs,
        *(each(**browser.UNSEEN) for each in unseen),
        browser.busy(), browser.reconnect(store), browser.shortcuts(store),
    ]  # fmt: skip
    look = {"theme_config": THEME, "dark_theme": browser.scheme() == "dark", "main_width": "100%"}
    return without_the_common_busy_sign(
        lambda: pmui.Page(title="Pretraining Playground", main=parts, template=first_paint.TEMPLATE, **look)
    )


PAGES: dict[str, Callable[[Store], View]] = {
    "Stage": lambda store: StagePage(store.stage),
    "Train": lambda store: TrainPage(store.train, looking=lambda: store.page == 1, slow=store.slow),
    "Transfer": TransferPage,
    "Corpus": lambda store: CorpusPage(store, looking=lambda: store.page == 3),
}
"""How each page is made, by the name of its tab."""

COMING = {
    "Stage": "the sentence, the list of objectives, and the picture of one",
    "Train": "what can be chosen, the curves, and the runs that are kept",
    "Transfer": "what can be chosen, the questions, and the charts",
    "Corpus": "the texts to choose from, one document, and its tokens",
}
"""What each page holds, shown while it is being made."""


def coming(name: str) -> str:
    """A line that stands where a page will stand."""
    return say(f"{name} is being made: {COMING[name]}.", "quiet")


class Tabs(View):
    """The pages in tabs; a page is made when it is opened first, and polled from then on."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.pages: dict[int, View] = {}
        self.places = [column(html(coming(name))) for name in PAGES]
        super().__init__(pmui.Tabs(*zip(PAGES, self.places, strict=True), sizing_mode="stretch_width"))
        after_the_answer(lambda: self._enter(store.page))
        self.layout.param.watch(lambda event: store.param.update(page=event.new), "active")
        store.param.watch(lambda event: self._enter(event.new), "page")

    def _enter(self, number: int) -> None:
        if number not in self.pages:
            page = list(PAGES.values())[number](self.store)
            page.poll()  # what it has to say stands there from the beginning, and pushes nothing away later
            self.places[number][:] = [page]
            self.pages[number] = page
        self.layout.active = number

    def poll(self) -> None:
        for page in tuple(self.pages.values()):  # a page may open another one
            page.poll()


def _link(store: Store) -> None:
    """Keep what is on screen in the address, so that it can be shared, and follow Back and Forward of the browser."""
    location = pn.state.location
    turning = False

    def write(*_: object) -> None:
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
    store.param.watch(write, "page")
    store.stage.param.watch(write, [*SCENE, "rebuilt", "view"])
    for chosen in (store.train, store.corpus):
        chosen.param.watch(write, [chosen.chosen_by, "corpus_knobs"])
    location.param.watch(turn, "search")


def _address(store: Store) -> str:
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
