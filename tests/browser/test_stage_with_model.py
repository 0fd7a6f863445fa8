"""Journey: a person has a small model trained on the stage, reads its numbers, and walks through one of its updates."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import open_stage, wait_for
from tests.browsing import shot, stand
from tests.runs import reviews


def test_a_small_model_shows_its_numbers_and_one_of_its_updates(
    page: Page, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.state.stage.model.STEPS", 8)
    monkeypatch.setattr("widgets.state.stage.model.open_corpus", lambda _: reviews())
    open_stage(page, address)
    expect(page.get_by_text(re.compile(r"^MLM, 2 layers, .* comes with the app"))).to_be_visible()
    wait_for(page, "s.name === 'loss' && s.answers.prices.length > 0")  # it plays by itself, to the end
    page.get_by_role("button", name="Train a new one").click()
    wait_for(page, "s.name === 'forward' && s.answers.layers[0].held.length === 1")
    expect(page.get_by_text("The numbers are from MLM after 8 steps on reviews")).to_be_visible()
    page.locator("section.stage").focus()
    page.keyboard.press(",")
    wait_for(page, "s.layer === 0 && String(s.answers.layers[0].held) === '0'")
    page.keyboard.press("End")
    wait_for(page, "s.name === 'loss' && s.answers.prices.length > 0 && !s.moving")
    shot(page, "stage-numbers")
    page.get_by_role("button", name="Step through one update").click()
    expect(page.locator("section.stage .stage-title")).to_have_text("Inside update 9")
    page.locator("section.stage").focus()
    page.keyboard.press("End")
    wait_for(page, "s.name === 'after' && s.answers.kind === 'after'")
    shot(page, "stage-inside")
    leave = page.get_by_role("button", name="Remove the model")
    before = stand(leave)["x"]
    page.get_by_role("button", name="Back to the sentence").click()
    expect(page.get_by_role("button", name="Step through one update")).to_be_visible()
    expect(page.locator("section.stage .stage-title")).to_have_text("MLM")
    assert stand(leave)["x"] == before, "nothing moves away under a pointer"
    leave.click()
    expect(page.get_by_text("No model loaded; attention, predictions and loss are hidden.")).to_be_visible()
    expect(page.get_by_role("button", name="Train a small model now")).to_be_visible()
    wait_for(page, "s.answers.layers.every((each) => !each.held.length)")
    page.get_by_role("button", name="Use the model of the app").click()  # and not the one that was trained
    expect(page.get_by_text(re.compile("comes with the app"))).to_be_visible()
    page.locator("section.stage").focus()
    page.keyboard.press("End")
    wait_for(page, "s.name === 'loss' && s.answers.prices.length > 0")
