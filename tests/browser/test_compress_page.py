"""Journey: a model is compressed in three ways, read by two meters and two speeds, and the table is taken away."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from playground.compression import compare, meters
from tests.browser.pages import base_trained_here, wait_for
from tests.browsing import PATIENCE, shot, still, wait_until
from widgets.state import compress
from widgets.state.compress import CompressStore

QUICK = ("early exit(unlabelled=20, steps=5)", "int8", "layer sharing(steps=5)")


@pytest.mark.guarded
def test_a_model_is_compressed_in_three_ways(page: Page, address: str, monkeypatch) -> None:
    monkeypatch.setattr(compress, "SHOWN_FIRST", QUICK)
    monkeypatch.setattr(CompressStore.param.seeds, "default", 2)
    monkeypatch.setattr(CompressStore.param.steps, "default", 10)
    monkeypatch.setattr(meters, "ROUNDS", 2)
    monkeypatch.setattr(compare, "TEST_TEXTS", 60)
    base_trained_here(page, address, 20)
    page.get_by_role("tab", name="Compress").click()
    begin = page.get_by_role("button", name="Compress", exact=True)
    expect(page.get_by_text("Choose a question, or press Compress.")).to_be_visible()
    page.get_by_role("button", name="Build a pipeline").click()
    page.get_by_role("combobox", name="method").click()
    page.get_by_role("listbox").get_by_text("PKD", exact=True).click()
    page.get_by_role("group", name="layer 1 follows").get_by_role("button", name="1").click()
    expect(page.get_by_label("mapping")).to_have_value("1")
    page.get_by_role("button", name="Add as a step").click()
    expect(page.get_by_label("pipeline", exact=True)).to_have_value("PKD(mapping=1)")
    page.get_by_role("button", name="Build a pipeline").click()
    begin.click()
    expect(page.get_by_text("Three meters, side by side")).to_be_visible(timeout=3 * PATIENCE)  # as models come
    expect(page.get_by_text("What changed")).to_be_visible(timeout=3 * PATIENCE)
    table = page.get_by_role("group", name="the meters")
    for name in ("uncompressed", *QUICK):
        expect(table.get_by_role("cell", name=name, exact=True)).to_be_visible()
    for meter in ("bytes", "operations", "seconds"):
        frontier = page.get_by_role("img", name=f"Frontier by {meter}")
        expect(frontier.locator("title", has_text="layer sharing")).to_have_count(1)
    with page.expect_download() as taken:
        page.locator("button", has_text="Table (CSV)").click()
    expect(page.get_by_text("flipped answers", exact=False).first).to_be_attached()
    assert Path(taken.value.path()).read_text(encoding="utf-8").startswith("pipeline,accuracy")
    expect(page.get_by_text("predictions in held-out text", exact=False).first).to_be_attached()
    expect(page.get_by_text("At speed 0.50 the accuracy is", exact=False)).to_be_attached()
    page.locator("input[type=range]:visible").last.focus()
    page.keyboard.press("Home")
    all_layers = page.get_by_text("At speed 0.00", exact=False)
    expect(all_layers).to_contain_text("2.00 of 2 layers and 100% of the operations")
    shot(page, "compress-light-1280")
    page.get_by_role("button", name="Show both on the stage").click()
    expect(page.locator("section.stages .stage-subtitle").first).to_have_text("Uncompressed, fine-tuned on sentiment.")
    expect(page.locator("section.stages .stage-subtitle").last).to_contain_text("Its early exits are not shown")
    wait_for(page, "s.name === 'forward' && s.stages.every((each) => each.answers.layers[0].layers === 2)")
    page.locator(".stages-bar").get_by_label("Layer").select_option("layer 1")
    wait_for(page, "s.stages.every((each) => each.layer === 0)")
    page.get_by_role("tab", name="Compress").click()
    page.locator("header button").last.click()
    page.set_viewport_size({"width": 390, "height": 844})
    wait_until(page, lambda: page.evaluate("document.documentElement.scrollWidth") <= 390)
    shot(still(page), "compress-dark-390")
