"""Journey: a person hides more and more of a sentence, and sees a model of masked diffusion fill it again."""

import re

from playwright.sync_api import Page, expect

from tests.browser.pages import lane, open_stage, pick, wait_for
from tests.browsing import shot, visit


def test_a_sentence_is_hidden_by_a_slider_and_unmasked_by_three_rules(page: Page, address: str) -> None:
    open_stage(page, address)
    pick(page, "masked diffusion")
    expect(
        page.get_by_text(re.compile(r"^masked diffusion, 2 layers, .* nats a word .* comes with the app"))
    ).to_be_visible()
    time = page.get_by_role("slider", name="time t")
    time.focus()
    page.keyboard.press("Home")
    expect(page.get_by_label("manual choices")).to_have_value("t=0.01")
    time.focus()
    page.keyboard.press("End")
    expect(page.get_by_label("manual choices")).to_have_value("t=1")
    page.locator("section.stage").focus()
    page.keyboard.press("End")
    last = wait_for(page, "s.name === 'unmask 6' && !s.playing && !s.moving")
    assert lane(last, "original") == "i am happy to join with you today".split()
    first = lane(last, "inputs")
    assert "[MASK]" not in first
    shot(page, "stage-unmasked")
    for rule, said in (("random", "some at random stay"), ("left to right", "the first ones stay")):
        page.get_by_role("combobox", name="unmasking").click()
        page.get_by_role("listbox").get_by_text(rule, exact=True).click()
        page.locator("section.stage").focus()
        page.keyboard.press("End")
        expect(page.get_by_text(said).first).to_be_visible()
        assert "[MASK]" not in lane(wait_for(page, "s.name === 'unmask 6' && !s.moving"), "inputs")
    page.keyboard.press("ArrowLeft")
    state = wait_for(page, "s.name === 'unmask 5' && !s.moving")
    assert lane(state, "inputs").index("[MASK]") == 7, "from left to right, the last word is left"


def test_a_slider_goes_from_a_language_model_to_diffusion(page: Page, address: str) -> None:
    """Blocks of one word see those before them; in one block for all, all changed words see each other."""
    visit(page, f"{address}/?view=stage&objective=block+diffusion&frame=visibility")
    size = page.get_by_role("slider", name="block size", exact=True)
    for key, blocks, seen in (("Home", 1, 72), ("End", 16, 128)):
        size.focus()
        page.keyboard.press(key)
        expect(page.get_by_text(f"({seen} of 256 query-key pairs)").first).to_be_visible()
        state = wait_for(page, "s.name === 'visibility' && !s.moving")
        assert len(lane(state, "inputs")) == 16, "the lane of the inputs has the text as well"
        shot(page, f"stage-blocks-of-{blocks}")
