"""Journey: fine-tune the model just trained in three ways and read the verdict."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import base_trained_here
from tests.browsing import PATIENCE, shot, still, visit, wait_until
from widgets.state.transfer.store import TransferStore


@pytest.mark.guarded
def test_compare_strategies_from_a_model_trained_here(page: Page, address: str, monkeypatch) -> None:
    monkeypatch.setattr(TransferStore.param.seeds, "default", 2)
    monkeypatch.setattr(TransferStore.param.steps, "default", 20)
    visit(page, f"{address}/?page=transfer")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("There is no trained model yet")).to_be_visible()
    base_trained_here(page, address, 80)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("standard error")).to_be_visible(timeout=3 * PATIENCE)
    for name in ("random start", "feature-based", "full", "adapters"):
        expect(page.get_by_role("cell", name=name, exact=True)).to_be_visible()
    unmoved = page.get_by_role("cell", name="+0.000 ± 0.000")
    expect(unmoved).to_have_count(2)  # frozen, and adapters once they are taken out
    expect(page.get_by_text("with the modules removed, pre-training outputs are bit-identical")).to_be_visible()
    shot(page, "transfer-light-1280")
    page.locator("header button").last.click()
    shot(still(page), "transfer-dark-1280")
    page.set_viewport_size({"width": 360, "height": 1100})
    wait_until(page, lambda: page.evaluate(BEYOND, 360) == [])  # nothing stands beyond the edge of a telephone
    shot(still(page), "transfer-dark-360")
    compare = page.get_by_role("button", name="Compare", exact=True)
    expect(compare).to_be_hidden()  # what was asked for is seen, and not the choices
    page.get_by_role("button", name="Settings: sentiment, 4 strategies").click()
    expect(compare).to_be_visible()


BEYOND = """(width) => {
  const found = [];
  const walk = (root) => [...root.children].forEach((e) => {
    const box = e.getBoundingClientRect();
    const scrolls = ['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX);
    if (box.width > 1 && box.right > width + 1) found.push(`${e.tagName} ${e.className} ${Math.round(box.right)}`);
    if (!scrolls || e === document.body) { walk(e); if (e.shadowRoot) walk(e.shadowRoot); }
  });
  walk(document.body);
  return found.slice(0, 5);
}"""

SEARCH_AND_WALK = """(field, search) => {
  field.value = search;
  field.dispatchEvent(new Event('input'));
  field.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown'}));
}"""
"""Into the list before the app has answered the search."""


def test_strategies_are_searched_walked_by_key_and_chosen(page: Page, address: str) -> None:
    visit(page, f"{address}/?page=transfer")
    chips = page.get_by_role("list", name="chosen strategies").get_by_role("listitem")
    expect(chips).to_have_count(4)
    search = page.get_by_role("searchbox", name="Search strategies")
    search.fill("starting point")
    expect(page.get_by_role("checkbox")).to_have_count(1)
    expect(page.get_by_role("group", name="penalties and replay")).to_be_visible()
    search.press("ArrowDown")
    page.keyboard.press("Space")
    names = ("random start", "feature-based", "full", "adapters", "L2-SP")
    expect(chips).to_have_text([f"{name}×" for name in names])
    expect(page.get_by_text("arXiv:1802.01483, sec. 3", exact=True)).to_be_visible()
    page.get_by_role("button", name="leave out full", exact=True).press("Enter")
    expect(chips).to_have_count(4)
    search.fill("")
    page.get_by_role("checkbox", name="random start").press("ArrowDown")
    expect(page.get_by_role("checkbox", name="feature-based")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("checkbox", name="few-shot prompting")).to_be_focused()
    search.evaluate(SEARCH_AND_WALK, "distillation")
    expect(page.get_by_text("'distillation' is not here")).to_be_visible()
    expect(page.get_by_role("checkbox", name="self-distillation")).to_be_focused()
