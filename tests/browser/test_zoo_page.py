"""Journey: the zoo is filtered, a card shows what BERT changed over GPT, and Train takes BERT to the Train page."""

import pytest
from playwright.sync_api import Page, expect

from tests.browsing import shot, still, visit, wait_until


@pytest.mark.guarded
def test_a_system_is_found_opened_and_trained(page: Page, address: str) -> None:
    visit(page, f"{address}/?page=zoo")
    elmo, bert = (page.get_by_role("table").get_by_role("button", name=name, exact=True) for name in ("ELMo", "BERT"))
    expect(elmo).to_be_visible()
    page.get_by_role("textbox", name="search").fill("bert")
    expect(elmo).to_be_hidden()
    bert.focus()
    page.keyboard.press("Enter")
    card = page.get_by_role("article", name="BERT")
    expect(card).to_contain_text("What it changed over GPT")
    expect(card.locator("del", has_text="left to right").first).to_be_visible()
    expect(card.locator("ins", has_text="bidirectional").first).to_be_visible()
    expect(card).to_contain_text("before training and")
    assert "zoo.entry=BERT" in page.url
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.scrollWidth <= 390")
    page.locator("header button").last.click()
    shot(still(page), "zoo-dark-390")
    card.get_by_role("button", name="Train BERT").click()
    expect(page.get_by_text("BERT trains on world.")).to_be_visible()
    stop, finished = page.get_by_role("button", name="Stop", exact=True), page.get_by_text("finished", exact=True).first
    wait_until(page, lambda: stop.is_enabled() or finished.is_visible())  # a slow browser may see only its end
    stop.evaluate("button => button.click()")
