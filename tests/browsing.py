"""A real browser for tests: the system's Chromium, cut off from the network, which forgives nothing."""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FloatRect,
    Locator,
    Page,
    Playwright,
    Request,
    ViewportSize,
    expect,
)

from tests.chromium import chromium

CHROMIUM = chromium()
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
"""No other machine is found; to stop every request and look at it costs a page an eighth of its time."""

ONE_RENDERER = "--process-per-site"
"""All pages of the app share one process, which has read the scripts once: a visit takes a quarter less of the CPU."""

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    ALONE,
    ONE_RENDERER,
]
SHOTS = Path(__file__).parents[1] / ".shots"
PATIENCE = 120_000
"""Milliseconds until a busy machine must have shown what is waited for; no test says how fast a machine is."""

PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
"""What an act asks to be painted is painted in the next frame, so it is there when the frame after that begins."""

CUT = """
window.sockets = [];
window.WebSocket = class extends WebSocket { constructor(...given) { super(...given); window.sockets.push(this); } };
const real = window.fetch;
window.fetch = (...given) => (window.away ? Promise.reject(new TypeError("cut off")) : real(...given));
window.cut = () => { window.away = true; window.sockets.forEach((socket) => socket.close()); };
"""
"""A network that can be cut from inside the page, without the errors that a browser writes about a real one."""

expect.set_options(timeout=PATIENCE)
AT_HOME = re.compile(r"^(file:|data:|blob:|about:|(https?|wss?)://(localhost|127\.0\.0\.1)(:\d+)?(/|$))")


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """One Chromium for all tests of a worker."""
    if not CHROMIUM:
        pytest.fail(
            "There is no Chromium here; install it (Debian: apt-get install chromium) or set CHROMIUM to its path."
        )
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """One profile for all pages of a worker, each without cookies; a profile of its own costs a page a third more.

    An empty page of each site stays open in it, so that the processes of the sites do too.
    """
    context = browser.new_context()
    for site in ("http://localhost", Path(os.devnull).as_uri()):
        tab = context.new_page()
        tab.route("http://localhost", lambda route: route.fulfill(body=""))
        tab.goto(site)
    yield context
    context.close()


@pytest.fixture
def context_size() -> ViewportSize:
    """The size of the window; a test may say otherwise."""
    return {"width": 1280, "height": 800}


@pytest.fixture
def page(profile: BrowserContext, context_size: ViewportSize, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that fails its test on any request that leaves the machine, console error or page error."""
    trouble: list[str] = []

    def look(request: Request) -> None:
        if not AT_HOME.match(request.url):
            trouble.append(f"asked another machine: {request.url}")

    def answer(dialog) -> None:
        if dialog.type != "beforeunload":  # that one asks whether a notebook that was not saved may be left
            trouble.append(f"dialog: {dialog.message}")
        dialog.accept()

    profile.clear_cookies()
    profile.on("request", look)
    page = profile.new_page()
    page.set_viewport_size(context_size)
    page.on("console", lambda m: trouble.append(f"console: {m.text}") if m.type == "error" else None)
    page.on("pageerror", lambda error: trouble.append(f"page error: {error.stack or error}"))
    page.on("dialog", answer)
    page.set_default_timeout(PATIENCE)
    failed = request.session.testsfailed
    yield page
    if request.session.testsfailed > failed:
        shot(page, request.node.name)
    page.goto("about:blank")  # so the app hears that nobody is there any more
    profile.remove_listener("request", look)
    for opened in profile.pages[2:]:
        opened.close()
    assert not trouble, trouble


def visit(page: Page, address: str) -> Page:
    """Open the app and wait until it listens."""
    with page.expect_console_message(lambda m: "document idle" in m.text, timeout=PATIENCE):
        page.goto(address)
    return page


def painted(page: Page) -> Page:
    """Wait until what was done last is painted."""
    page.evaluate(PAINTED)
    return page


STILL = """() => {
  const ends = (each) => each.playState === "running" && each.effect.getComputedTiming().endTime !== Infinity;
  const moves = (root) => root.getAnimations().some(ends)
    || [...root.querySelectorAll("*")].some((element) => element.shadowRoot && moves(element.shadowRoot));
  return !moves(document);
}"""


def still(page: Page) -> Page:
    """Wait until nothing fades or slides any more."""
    painted(page).wait_for_function(STILL)
    return page


def stand(part: Locator) -> FloatRect:
    """Where a part of the page stands, once it stands at the same place in two readings with a frame between them."""
    before = None
    while True:
        box = part.bounding_box()
        if box and box == before:
            return box
        before = box
        painted(part.page)


def wait_until(page: Page, test: Callable[[], object], seconds: float = 2 * PATIENCE / 1000) -> None:
    """Poll the page; how fast it comes there is the machine's own affair."""
    end = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < end, "waited too long"
        page.wait_for_timeout(100)


def shot(page: Page, name: str) -> Path:
    """Leave a screenshot behind, to be looked at by a person."""
    SHOTS.mkdir(exist_ok=True)
    path = SHOTS / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name).strip('-')}.png"
    page.screenshot(path=path)
    return path
