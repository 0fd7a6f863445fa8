"""Journey: a person paints a curriculum, and the run asks for other words where another objective begins."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import open_train
from tests.browsing import shot
from tests.runs import reviews


def test_paint_a_curriculum_and_see_the_batches_change(
    page: Page, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.state.train.choice.open_corpus", lambda *_, **__: reviews())
    open_train(page, address)
    page.get_by_role("button", name="Paint a curriculum").click()
    expect(page.get_by_text("LM 70 % then MLM 30 %")).to_be_visible()
    page.get_by_role("combobox", name="preset").click()
    page.get_by_role("listbox").get_by_text("one after the other", exact=True).click()
    expect(page.get_by_text("LM 50 % then MLM 50 %", exact=True)).to_be_visible()
    map_ = page.locator(".bk-Figure").first
    box = map_.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + 30)  # the upper row, MLM, early in the run
    expect(page.get_by_text(re.compile(r"^LM \d+ % then MLM 5 % then LM \d+ % then MLM 50 %$"))).to_be_visible()
    page.get_by_role("button", name="Undo").first.click()
    expect(page.get_by_text("LM 50 % then MLM 50 %", exact=True)).to_be_visible()
    page.get_by_role("button", name="Use this curriculum").click()
    expect(page.get_by_text(re.compile("^Train one objective after another"))).to_be_visible()
    page.get_by_label("steps", exact=True).fill("20")
    page.keyboard.press("Enter")
    step, unasked = page.get_by_role("button", name="Step", exact=True), page.get_by_text("–", exact=True)
    for number in range(1, 12):
        step.click()
        expect(page.get_by_text(f"{number} of 20", exact=True)).to_be_visible()
        if number == 10:
            expect(unasked).to_have_count(1)  # the loss of hidden words, which are not asked for yet
    expect(unasked).to_have_count(0)
    shot(page, "train-curriculum")
