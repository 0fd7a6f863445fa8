"""Journey: the connection is lost while a model trains; the run goes on, and the page comes back to it."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages import halted, open_train, sessions, steps
from tests.browsing import CUT, shot, wait_until
from tests.browsing import visit as open_page
from widgets.app.lifetimes import LOOKED_EVERY, LOST_FOR

AWAY = LOST_FOR - 60_000
"""Milliseconds for which a page is away, all but the last minute for which its visit is kept."""


def ours(address: str, known: set[str]) -> list:
    return [session for session in sessions(address) if session.id not in known]


def begin(page: Page, address: str):
    """A run of a fresh visit, and the visit."""
    known = {session.id for session in sessions(address)}
    page.add_init_script(CUT)
    open_train(page, address)
    page.get_by_role("button", name="Train", exact=True).click()
    wait_until(page, lambda: steps(page) > 10)
    [visit] = ours(address, known)
    return visit, known


def cut(page: Page, visit) -> int:
    """Lose the connection; the step that was seen last."""
    page.evaluate("cut()")
    expect(page.get_by_role("alert")).to_contain_text("Clicks and input do not reach the app now.")
    expect(page.get_by_role("alert")).to_contain_text("continues without this page")
    wait_until(page, lambda: not visit.connection_count)
    return steps(page)


@pytest.mark.guarded
def test_a_run_goes_on_without_its_page_which_comes_back_to_it_by_itself(
    page: Page, address: str, endless: None
) -> None:
    visit, known = begin(page, address)
    at = cut(page, visit)
    shot(page, "connection-lost")
    visit._last_unsubscribe_time -= AWAY  # Bokeh's note of when the page went
    page.wait_for_timeout(LOOKED_EVERY + 1_000)
    assert steps(page) == at, "what is on screen stays"
    assert ours(address, known) == [visit] and not visit.destroyed
    page.evaluate("window.away = false")
    expect(page.get_by_text("Connected again. Your last click or input may not have")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    wait_until(page, lambda: steps(page) > at)
    assert ours(address, known) == [visit] and visit.connection_count == 1
    assert "session" not in page.url and "page=train" in page.url
    page.get_by_role("button", name="Pause").click()
    held = halted(page)
    page.get_by_role("button", name="Step", exact=True).click()
    wait_until(page, lambda: steps(page) == held + 1)
    page.get_by_role("button", name="Stop").click()


def test_where_the_visit_is_gone_its_run_is_offered(page: Page, address: str, endless: None) -> None:
    visit, known = begin(page, address)
    at = cut(page, visit)
    visit.request_expiration()
    wait_until(page, lambda: not ours(address, known))
    page.get_by_role("button", name="Try now").evaluate("(button) => { window.away = false; button.click(); }")
    offer = page.get_by_text("was on this page before")
    expect(offer).to_be_visible()
    shot(page, "run-offered")
    page.get_by_role("button", name="Reopen the run").click()
    expect(offer).to_be_hidden()
    wait_until(page, lambda: steps(page) >= at)
    before = steps(page)
    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: steps(page) > before)
    page.get_by_role("button", name="Stop").click()


def test_a_page_that_is_left_for_good_ends_its_visit_soon(page: Page, address: str, endless: None) -> None:
    visit, known = begin(page, address)
    page.goto("about:blank")
    wait_until(page, lambda: not ours(address, known))
    assert visit.destroyed


def test_a_browser_that_is_closed_without_a_word_ends_its_visit_too(browser: Browser, page: Page, address: str) -> None:
    known = {session.id for session in sessions(address)}
    other = browser.new_context()
    open_page(other.new_page(), f"{address}/?page=corpus")
    assert len(ours(address, known)) == 1
    other.close()
    wait_until(page, lambda: not ours(address, known))
