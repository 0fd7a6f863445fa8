"""How a visit begins: with patience for a slow browser, and as light or dark as the last one ended."""

from urllib.request import urlopen

from playwright.sync_api import Page, expect

from tests.browser.pages import sessions, wait_for_table
from tests.browsing import shot, visit, wait_until


def kept(page: Page, said: str) -> None:
    page.wait_for_function("(said) => decodeURIComponent(document.cookie).includes(`night=${said}`)", arg=said)


def test_a_visit_is_dark_as_the_system_is_until_somebody_turns_it(page: Page, address: str) -> None:
    page.emulate_media(color_scheme="dark")
    visit(page, address)
    kept(page, "system dark")
    wait_for_table(page, "t.dark")
    shot(page, "landing-dark-system")
    assert '<div id="first" class="dark">' in page.request.get(address).text()
    page.get_by_role("button", name="Toggle theme").click()
    kept(page, "light")
    wait_for_table(page, "!t.dark")
    visit(page, address)
    wait_for_table(page, "!t.dark")
    kept(page, "light")
    page.get_by_role("button", name="Toggle theme").click()
    kept(page, "system dark")


def test_a_visit_is_kept_until_a_slow_browser_comes_back_and_no_longer(page: Page, address: str) -> None:
    known = {session.id for session in sessions(address)}
    urlopen(address).read()
    (new,) = (session for session in sessions(address) if session.id not in known)
    wait_until(page, lambda: new.expiration_blocked)
    assert new.connection_count == 0
    assert new.document.template_variables["dist_url"] == "static/extensions/panel/", "no style comes from far away"
    visit(page, f"{address}/?page=corpus")
    sign = page.locator(".busy[role=progressbar]")
    expect(sign).to_have_css("opacity", "0")  # it is there, and at rest
    expect(sign).to_be_hidden()
    expect(page.get_by_role("banner").get_by_role("progressbar")).to_have_count(0)  # the library's own
    wait_until(page, lambda: any(s.connection_count and not s.expiration_blocked for s in sessions(address)))
