"""Journey: look at a corpus with its layers and cut it into pieces."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browsing import shot, still, visit, wait_until


def open_corpus(page: Page, address: str) -> Page:
    visit(page, address)
    page.get_by_role("tab", name="Corpus").click()
    page.locator("svg .word").first.wait_for()
    return page


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("listbox").get_by_text(option, exact=True).click()


def words(page: Page) -> list[str]:
    """The words as they are drawn, without what the mouse would show."""
    return page.locator("svg .word").evaluate_all("nodes => nodes.map(node => node.firstChild.data)")


@pytest.mark.guarded
def test_layers_are_switched_and_merges_are_stepped_through(page: Page, address: str) -> None:
    open_corpus(page, address)
    choose(page, "corpus", "parallel")
    expect(page.get_by_text("document 1 of 27,311")).to_be_visible()
    links = page.locator('svg path[stroke="#3390d6"]')
    wait_until(page, lambda: links.count() == len(words(page)) / 2 > 2)  # a line from every word to its twin
    page.get_by_role("button", name="aligned", exact=True).click()
    expect(links).to_have_count(0)
    expect(page.get_by_role("button", name="aligned", exact=True)).to_have_attribute("aria-pressed", "false")
    before = words(page)
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.get_by_text("document 2 of 27,311")).to_be_visible()
    wait_until(page, lambda: words(page) != before)
    expect(links).to_have_count(0)
    slider = page.get_by_role("slider", name="merge")
    slider.wait_for()
    page.get_by_text("At first every letter is a piece").wait_for()
    second = " ".join(words(page)[:3])  # of the second document, not of the one that was cut before
    wait_until(page, lambda: all(second in said for said in page.locator(".pieces").all_inner_texts()))
    slider.focus()
    page.keyboard.press("End")
    expect(page.get_by_text(re.compile(r"^Merge (\d+) of \1: "))).to_be_visible()
    shot(page, "corpus-light-1280")
    page.set_viewport_size({"width": 420, "height": 900})
    page.wait_for_function("document.documentElement.scrollWidth <= 420")
    right = "nodes => Math.max(...nodes.map(n => n.getBoundingClientRect().right))"
    wait_until(page, lambda: page.locator("svg .word").evaluate_all(right) <= 420)  # words wrap where it is narrow
    page.locator("header button").last.click()
    shot(still(page), "corpus-dark-420")


def test_a_link_to_the_page_shows_its_document_however_fast_it_was_read(page: Page, address: str) -> None:
    """The second visit reads from the disk before the page has arrived; nothing of it may be lost on the way."""
    for _ in range(2):
        visit(page, f"{address}?page=corpus")
        expect(page.get_by_role("button", name="Train on world")).to_be_enabled()
        page.locator("svg .word").first.wait_for()
