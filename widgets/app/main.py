"""The served app: nine pages in tabs, kept in the address, polled by one callback, and ended with the visit."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, urlencode

import panel as pn
import panel_material_ui as pmui

from widgets.app import first_paint, limits
from widgets.app.invalid_events import say_in_a_line
from widgets.app.lifetimes import LOST_FOR
from widgets.app.memory import tidying
from widgets.app.public import CROWDED_MINUTES, IDLE_MINUTES, Public, idle, reachable
from widgets.app.session import ADDRESSES, after_the_answer, poll
from widgets.browser import components as browser
from widgets.design_tokens import SKY, TOKENS
from widgets.pages.claims import ClaimsPage
from widgets.pages.classroom import MemberPage, TeacherPage
from widgets.pages.compress import CompressPage
from widgets.pages.corpus import CorpusPage
from widgets.pages.inside import InsidePage
from widgets.pages.layout import View, column
from widgets.pages.posttraining import PostTrainingPage
from widgets.pages.queue import QueueLine
from widgets.pages.stage import StagePage
from widgets.pages.train.page import TrainPage
from widgets.pages.transfer.page import TransferPage
from widgets.pages.zoo import ZooPage
from widgets.panel_compat import end, is_held, without_the_common_busy_sign
from widgets.state import inside, posttraining
from widgets.state.app import Store, Tab
from widgets.state.classroom import NAME, MemberStore, TeacherStore
from widgets.state.stage.store import SCENE, StageStore
from widgets.state.train.kept_runs import runs_folder
from widgets.state.zoo import LINKED
from widgets.theme import LARGER, html, say

pn.extension()
say_in_a_line()

WORDING = {"button": {"textTransform": "none"}}
LARGE_TYPE = {f"@media (min-width: {px}px)": {"fontSize": f"{0.875 * times}rem"} for px, times in LARGER.items()}
LARGE_BAR = {f"@media (min-width: {px}px)": {"zoom": times} for px, times in LARGER.items()}
AS_MEASURED, AS_LARGE = {"zoom": "calc(1 / var(--larger, 1))"}, {"zoom": "var(--larger, 1)"}
"""What opens beside a control is placed in pixels of the screen; only what it holds is as large as the control."""

GONE_AT_ONCE = {"enter": 200, "exit": 0}
"""A list that fades away after its choice would still take the next press, which was meant for what is below it."""

NARROW = "@media (max-width: 700px)"
IN_THE_BAR = {
    "@media (min-width: 1041px)": {
        "& .MuiTabs-root": {"position": "fixed", "top": "0", "left": "300px", "zIndex": "1201", "minHeight": "48px"},
        "& .MuiTab-root": {"minHeight": "48px", "color": "#fff"},
        "& .MuiTab-root.Mui-selected": {"color": "#fff", "fontWeight": "700"},
        "& .MuiTabs-indicator": {"backgroundColor": "#fff"},
    },
    "& > .MuiBox-root": {"overflow": "visible"},  # the page scrolls, past what sticks to its edge
}
"""Where there is room, the tabs stand in the bar of the page, so that its height is there once."""

NARROW_TAB = {NARROW: {"minHeight": "26px", "minWidth": "0", "padding": "2px 5px"}}
WRAPPED, UNDER_ONE_ROW = {NARROW: {"flexWrap": "wrap"}}, {NARROW: {"display": "none"}}
"""On a narrow telephone the tabs stand in two rows, where a line below the last one would point at another."""

SHAPES = {
    "MuiPopover": {"styleOverrides": {"root": AS_MEASURED}},
    "MuiMenu": {"styleOverrides": {"list": AS_LARGE}, "defaultProps": {"transitionDuration": GONE_AT_ONCE}},
    "MuiTooltip": {"styleOverrides": {"popper": AS_MEASURED, "tooltip": {**AS_LARGE, "width": "max-content"}}},
    "MuiToolbar": {"styleOverrides": {"root": {"minHeight": "44px !important", "margin": "0 4px", **LARGE_BAR}}},
    "MuiTab": {"styleOverrides": {"root": {"minHeight": "40px", **LARGE_TYPE, **NARROW_TAB}}},
    "MuiTabs": {"styleOverrides": {"root": {"minHeight": "40px"}, "list": WRAPPED, "indicator": UNDER_ONE_ROW}},
}
HEAD = {"& > .MuiLinearProgress-root": {"visibility": "hidden"}}
"""The library's own busy indicator, which it draws also where it is switched off; ours is `busy`."""

DAY = {"MuiAppBar": {"styleOverrides": {"root": HEAD}}}
NIGHT = {"MuiAppBar": {"styleOverrides": {"root": {**HEAD, "backgroundColor": "#16293a", "color": "#e8f1f8"}}}}
THEME = {
    mode: {"palette": {"primary": {"main": colour}}, "typography": WORDING, "components": SHAPES | bar}
    for mode, colour, bar in (("light", TOKENS["palette"]["blue"], DAY), ("dark", SKY, NIGHT))
}

Visit = Store | MemberStore | TeacherStore
"""What says whether it is busy, and ends what runs when it is closed."""

_visits: dict[int, Any] = {}  # the visits that are there, with their documents


FULL = "The server is full; try again in a minute."


def full() -> bool:
    """Whether there is no place for one more visit; those without a page then make room for the next."""
    if len(_visits) < limits.most_visits():
        return False
    for visit in _visits.values():
        if visit is not None and not is_held(visit):
            end(visit)
    return True


def app(runs: Path | None = None, public: Public | None = None) -> Any:
    """A fresh visit; its training is kept in the folder `runs`, by default the one of the user.

    Served to others (`public`), the visit has a folder of its own and its share of the machine.
    """
    if full():
        return pmui.Page(title="Pretraining Playground", main=[FULL])
    left = ExitStack()
    left.callback(tidying.soon)
    if public is not None:
        runs = Path(left.enter_context(TemporaryDirectory(prefix="playground-visit-", ignore_cleanup_errors=True)))
    store = Store(runs or runs_folder(), *([public.quota, public.classes] if public else []))
    take_place(store, left.close)
    limits.fit(store.train)
    if pn.state.location is not None:
        _link(store)
    tabs, line, reconnect = Tabs(store), QueueLine(store), browser.reconnect(store, LOST_FOR // 60_000)
    poll(tabs.poll, *([line.poll, end_when_idle(store, lambda: setattr(reconnect, "ended", True))] if public else []))
    if pn.state.curdoc is not None:
        shown = list(PAGES)[store.page]
        opening = first_paint.page(coming(shown)) if store.page else first_paint.first(store.stage)
        pn.state.curdoc.template_variables.update(first=opening, scheme=browser.scheme())
    notices = [html(say(sentence, "notice")) for sentence in limits.notices()]
    parts = [*notices, *([line] if public else []), tabs, browser.BrowserHistory(**browser.UNSEEN)]
    return _framed("Pretraining Playground", [*parts, reconnect, browser.shortcuts(store)])


def make_ready() -> None:
    """Load what all visits share, the libraries and a ready-made model, so that the first one does not wait for it."""
    store = Store()
    _open(store, "?view=stage")
    store.close()


def take_place(store: Visit, left: Callable[[], None]) -> None:
    """Count a visit until its session ends, also where its page could not be made; `left` is called at the end."""
    _visits[id(store)] = pn.state.curdoc

    def gone(session_context: Any) -> None:
        _visits.pop(id(store), None)
        store.close()
        left()

    pn.state.on_session_destroyed(gone)


def class_page(public: Public) -> Any:
    """A visit to `/class/NAME`: of a member, or with `?teacher` of the teacher."""
    if full():
        return pmui.Page(title="Pretraining Playground", main=[FULL])
    name, teacher = pn.state.route_params.get("name", ""), "teacher" in pn.state.session_args
    store = TeacherStore(public.classes, name, public.quota) if teacher else MemberStore(public.classes, name)
    take_place(store, tidying.soon)
    page = TeacherPage(store, lambda: _here(public)) if isinstance(store, TeacherStore) else MemberPage(store)
    reconnect, visit = browser.leaving(), pn.state.curdoc
    after_the_answer(lambda: None)
    poll(page.poll, end_when_idle(store, lambda: setattr(reconnect, "ended", True)))
    if visit is not None:
        visit.template_variables.update(first=first_paint.page(""), scheme=browser.scheme())
    title = f"Class {name}" if NAME.fullmatch(name) else "Class"  # the library writes it into tags as it is
    return _framed(title, [page, reconnect])


def _here(public: Public) -> str:
    """The address at which others open this page, without what is behind it."""
    location = pn.state.location
    return "" if location is None else reachable(location.href.partition("?")[0], public.origins, public.scheme)


def _framed(title: str, parts: list[Any]) -> Any:
    """A page with the head, the looks and the unseen helpers of all pages."""
    unseen = (browser.Accessibility, browser.CommitBeforeClick, browser.ColorScheme, browser.ReactRoots)
    parts = [*parts, *(each(**browser.UNSEEN) for each in unseen), browser.busy()]
    look = {"theme_config": THEME, "dark_theme": browser.scheme() == "dark", "main_width": "100%"}
    return without_the_common_busy_sign(
        lambda: pmui.Page(title=title, main=parts, template=first_paint.TEMPLATE, **look)
    )


def end_when_idle(store: Visit, say_so: Callable[[], None]) -> Callable[[], None]:
    """Give the place of a visit away where nobody has done anything for long and nothing trains, sooner in a crowd."""
    visit, working = pn.state.curdoc, time.monotonic()

    def look() -> None:
        nonlocal working
        working = time.monotonic() if store.busy else working
        minutes = idle(visit, working) if visit is not None else 0.0
        if minutes > IDLE_MINUTES or (minutes > CROWDED_MINUTES and len(_visits) >= limits.most_visits()):
            say_so()

    return look


PAGES: dict[str, Callable[[Store], View]] = {
    "Stage": lambda store: StagePage(store.stage),
    "Train": lambda store: TrainPage(store.train, looking=lambda: store.page == Tab.TRAIN, slow=store.slow),
    "Transfer": TransferPage,
    "Post-training": PostTrainingPage,
    "Corpus": lambda store: CorpusPage(store, looking=lambda: store.page == Tab.CORPUS),
    "Zoo": ZooPage,
    "Inside": InsidePage,
    "Compress": CompressPage,
    "Claims": ClaimsPage,
}
"""How each page is made, by the name of its tab."""


def coming(name: str) -> str:
    """A line that stands where a page will stand."""
    return say(f"Loading {name} …", "quiet")


class Tabs(View):
    """The pages in tabs; a page is made when it is opened first, and polled from then on."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.pages: dict[int, View] = {}
        self.panes = [column(html(coming(name))) for name in PAGES]
        super().__init__(pmui.Tabs(*zip(PAGES, self.panes, strict=True), sx=IN_THE_BAR, sizing_mode="stretch_width"))
        after_the_answer(lambda: self._enter(store.page))
        self.layout.param.watch(lambda event: store.param.update(page=event.new), "active")
        store.param.watch(lambda event: self._enter(event.new), "page")

    def _enter(self, number: int) -> None:
        if number not in self.pages:
            page = list(PAGES.values())[number](self.store)
            page.poll()  # what it has to say stands there from the beginning, and pushes nothing away later
            self.panes[number][:] = [page]
            self.pages[number] = page
        self.layout.active = int(number)

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
    store.zoo.param.watch(write, [*LINKED])
    store.inside.param.watch(write, [*inside.LINKED, "turned"])
    store.posttraining.param.watch(write, [*posttraining.LINKED])
    for chosen in (store.train, store.corpus):
        chosen.param.watch(write, [chosen.chosen_by, "corpus_knobs"])
    location.param.watch(turn, "search")


def _address(store: Store) -> str:
    page = {"page": ADDRESSES[store.page]} if store.page else {}
    said = store.stage.query() | page or {"view": "stage"}
    for state in (store.train, store.corpus, store.zoo, store.inside, store.posttraining):
        said |= state.query()
    return f"?{urlencode(said)}"


def _open(store: Store, address: str) -> None:
    """Bring back what an address says; what it does not say is as in a fresh visit."""
    asked = dict(parse_qsl(address.removeprefix("?"), keep_blank_values=True))
    if all(name in ("page", "corpus", "source") or name.startswith(("zoo.", "inside.", "post.")) for name in asked):
        asked["view"] = "table"
    fresh = StageStore()
    fresh.open(asked)
    store.stage.open({name: str(getattr(fresh, name)) for name in ("text", "pair", "plan", "seed")} | asked)
    store.train.choose_corpus(asked.get("corpus", ""))
    store.corpus.choose_corpus(asked.get("source", ""))
    store.zoo.open(asked)
    store.inside.open(asked)
    store.posttraining.open(asked)
    store.page = ADDRESSES.index(page) if (page := asked.get("page", "")) in ADDRESSES else 0
