"""Every page passes axe in light and dark, is walked by keyboard alone, and stands still for those who ask for it."""

import time
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from playground.trace.rebuild import rebuild
from tests.browser.pages import wait_for
from tests.browsing import PATIENCE, still, visit
from widgets.animation import page as saved_page
from widgets.notebook import table

PAGES = {
    "table": "?view=table",
    "stage": "?objective=PLM&frame=ask",
    "in step": "?objective=MLM&compare=LM",
    "Train": "?page=train",
    "Transfer": "?page=transfer",
    "Post-training": "?page=post-training",
    "Corpus": "?page=corpus",
    "Zoo": "?page=zoo&zoo.entry=BERT",
    "Inside": "?page=inside",
    "Compress": "?page=compress",
    "Claims": "?page=claims",
}
GUARDED = {"stage": pytest.mark.guarded}
"""The page that `make test` looks at too."""

NAMED = """() => {
  const deep = (root) => root.querySelector("h3.title[aria-level]")
    || [...root.querySelectorAll("*")].some((e) => e.shadowRoot && deep(e.shadowRoot));
  return Boolean(deep(document));
}"""
BY_NIGHT = "rgb(22, 41, 58)"


COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""The rules about colours: all that another theme changes on a page that has passed every rule by day."""


def violations(page: Page, rules: dict | None = None) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"], **(rules or {})}).response["violations"]
    return [f"{v['id']}: {node['html'][:160]}" for v in found for node in v["nodes"][:3]]


def nothing_found(page: Page, rules: dict | None = None) -> None:
    """Axe finds nothing once colours have faded into the theme, or fails with what it found last."""
    end = time.monotonic() + PATIENCE / 1000
    while found := violations(still(page), rules):
        assert time.monotonic() < end, found


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("name", [pytest.param(page, marks=GUARDED.get(page, ())) for page in PAGES])
def test_axe_finds_nothing_in_the_app_by_day_and_by_night(page: Page, address: str, name: str) -> None:
    visit(page, f"{address}/{PAGES[name]}")
    page.wait_for_function(NAMED)
    if name == "stage":
        wait_for(page, "s.name === 'ask' && !s.playing")
        page.locator("section.stage").focus()
        for key in "bt?":
            page.keyboard.press(key)
    nothing_found(page)
    page.locator("header button").last.click()
    expect(page.locator("header").first).to_have_css("background-color", BY_NIGHT)
    nothing_found(page, COLOURS)


def test_axe_finds_nothing_in_a_saved_page(page: Page, tmp_path: Path, theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    for name, text in (("stage", saved_page(rebuild("MLM").record())), ("table", table().page())):
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        page.goto((tmp_path / f"{name}.html").as_uri())
        page.wait_for_function(f"document.querySelector('[id^={name}-]')?.__{name}")
        nothing_found(page)


@pytest.mark.guarded
def test_a_journey_without_a_mouse(page: Page, address: str) -> None:
    visit(page, f"{address}/?view=table")
    page.get_by_role("button", name="All", exact=True).focus()
    for _ in range(14):
        page.keyboard.press("Tab")
        if "LM: given" in (page.evaluate(FOCUSED) or ""):
            break
    assert page.evaluate(FOCUSED).startswith("LM: given"), "the first row is reached by Tab"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("section.stage .stage-title")).to_have_text("MLM")
    page.wait_for_function(f"() => (({FOCUSED})() || '').startsWith('Stage: ')")
    expect(page.locator(".picker .now")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("rtd")
    page.keyboard.press("Enter")
    expect(page.locator("section.stage .stage-title")).to_have_text("RTD")
    for _ in range(60):
        page.keyboard.press("Tab")
        if (page.evaluate(FOCUSED) or "").startswith("Stage: "):
            break
    page.keyboard.press("End")
    wait_for(page, "s.name === 'loss'")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".stage-reader")).to_contain_text("sees")
    page.keyboard.press("t")
    expect(page.locator(".stage-table caption").first).to_contain_text("entries allowed")


FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.getAttribute('aria-label') || at?.textContent?.slice(0, 40);
}"""
