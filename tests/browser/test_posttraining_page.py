"""Journey: DPO comes near to the exact optimum, then GRPO games a reward with a shortcut."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import NOTHING_OVER_THE_EDGE
from tests.browsing import PATIENCE, shot, still, visit, wait_until
from tests.posttraining import base, corpus
from widgets.state import posttraining

NEAR = re.compile(r"ends ([\d.]+) nats from the optimum.*; the reference is ([\d.]+) from it")
GAMED = re.compile(
    r"GRPO games the proxy \(Goodhart's law\): the proxy reward rises from .* the true reward falls from"
)


@pytest.mark.guarded
def test_dpo_comes_near_the_optimum_and_grpo_games_a_shortcut(page: Page, address: str, monkeypatch) -> None:
    monkeypatch.setattr(posttraining, "small_base", lambda *_: base())
    monkeypatch.setattr(posttraining, "open_corpus", lambda _: corpus())
    visit(page, f"{address}/?page=post-training&post.chosen=DPO&post.steps=60&post.prompts=2")
    begin = page.get_by_role("button", name="Post-train", exact=True)
    expect(page.get_by_text("Press Post-train, or choose a question.")).to_be_visible()
    begin.click()
    expect(page.get_by_text("nats from the optimum", exact=False)).to_be_visible(timeout=2 * PATIENCE)  # from the start
    near = page.get_by_text(NEAR)
    expect(near).to_be_visible(timeout=4 * PATIENCE)
    end, start = map(float, NEAR.search(near.inner_text()).groups())  # type: ignore[union-attr]
    assert end < start / 2
    assert page.locator(".bk-Figure").count() == 4
    expect(page.locator("span.counted").first).to_be_visible()
    expect(page.get_by_role("columnheader", name="chosen")).to_be_visible()
    expect(page.get_by_role("group", name="likeliest answers")).to_be_attached()
    shot(page, "post-training-light-1280")

    page.get_by_role("switch", name="reward with a shortcut").or_(
        page.get_by_label("reward with a shortcut")
    ).first.click()
    expect(page.get_by_text("Proxy reward, which is trained: positive words.", exact=False)).to_be_visible()
    page.get_by_role("button", name="Add a variant of a method").click()
    page.get_by_role("combobox", name="method", exact=True).click()
    page.get_by_role("listbox").get_by_text("GRPO", exact=True).click()
    page.get_by_role("button", name="Compare this variant").click()
    begin.click()
    expect(page.get_by_text(GAMED)).to_be_visible(timeout=4 * PATIENCE)
    expect(begin).to_be_enabled(timeout=4 * PATIENCE)
    page.get_by_role("combobox", name="details of").click()
    page.get_by_role("listbox").get_by_text("GRPO", exact=True).click()
    expect(page.get_by_role("columnheader", name="advantage")).to_be_visible()
    expect(page.get_by_role("columnheader", name="true reward")).to_be_attached()
    wait_until(page, lambda: "post.shortcut=True" in page.url and "post.chosen=DPO%7CGRPO" in page.url)
    page.locator("header button").last.click()
    page.set_viewport_size({"width": 390, "height": 844})
    wait_until(page, lambda: page.evaluate(NOTHING_OVER_THE_EDGE))
    shot(still(page), "post-training-dark-390")
