"""Journey: a person types a sentence, picks objectives, steps through the frames and bends the plan."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import FIND, NOTHING_OVER_THE_EDGE, lane, open_stage, pick, to_the_end, wait_for
from tests.browsing import shot, stand, visit
from tests.runs import reviews


@pytest.mark.guarded
def test_hostile_text_is_text(page: Page, address: str) -> None:
    open_stage(page, address)
    page.get_by_label("your sentence").fill("<script>alert(1)</script> <img src=x onerror=alert(2)>")
    state = wait_for(page, "s.layout.lanes[0].cells.some(c => c.text === 'script')")
    assert "script" in lane(state, "original")
    page.get_by_label("manual choices").fill("<img src=x onerror=alert(3)>")
    page.get_by_label("manual choices").press("Enter")
    expect(page.get_by_text("There is no plan key")).to_be_visible()


def test_looks_right(page: Page, address: str) -> None:
    open_stage(page, address)
    pick(page, "PLM")
    for theme in ("light", "dark"):
        if theme == "dark":
            page.locator("header button").last.click()
            wait_for(page, "s.dark")
        for width in (800, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            wait_for(page, "!s.playing && s.name === 'loss' && !s.moving")
            page.wait_for_function(NOTHING_OVER_THE_EDGE)
            shot(page, f"stage-{theme}-{width}")


def test_a_mask_by_hand_step_by_step_and_back(page: Page, address: str) -> None:
    open_stage(page, address)
    to_the_end(page)
    join = page.locator(".stage-lane [data-word='5']")
    join.click()
    wait_for(page, "s.layout.lanes[1].cells[4].text === '[MASK]'")
    join.click()
    wait_for(page, "s.layout.lanes[1].cells[4].state === 'randomised'")
    page.get_by_label("word instead").fill("purple")
    page.keyboard.press("Enter")
    wait_for(page, "s.layout.lanes[1].cells[4].text === 'purple'")
    page.locator(".stage-hint").get_by_role("button", name="unchanged").click()
    wait_for(page, "s.layout.lanes[1].cells[4].state === 'scored_as_is'")
    expect(page.locator(".stage-lamp")).to_have_attribute("data-level", "amber")
    page.locator("section.stage").focus()
    for _ in range(4):
        page.keyboard.press("Control+z")
    wait_for(page, "String(s.plan.chosen) === '3,8'")
    page.keyboard.press("Control+Shift+z")
    wait_for(page, "String(s.plan.chosen) === '3,5,8'")


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch, endless: None) -> None:
    """A corpus that is there at once, and a run that trains until it is stopped."""
    corpus = reviews()
    monkeypatch.setattr("widgets.state.train.choice.open_corpus", lambda _: corpus)


@pytest.fixture
def painting(page: Page, address: str, ready: None) -> Page:
    """LM on the frame of what it must predict, with the brush in the hand."""
    visit(page, f"{address}/?objective=LM&frame=ask")
    wait_for(page, "s.name === 'ask' && s.layout.matrices.length > 0 && !s.playing && !s.moving")
    page.locator("section.stage").focus()
    page.keyboard.press("m")
    wait_for(page, "s.painting")
    page.locator("section.stage canvas").first.evaluate("canvas => canvas.scrollIntoView({ block: 'end' })")
    return page


@pytest.mark.guarded
def test_a_painted_leak_is_shown_repaired_and_trained_with(painting: Page) -> None:
    page = painting
    box = stand(page.locator("section.stage canvas").first)
    cells = wait_for(page, "s.painting")["layout"]["matrices"][0]
    x, y = (box[k] + cells[k] + cells["size"] / 2 for k in ("x", "y"))
    page.mouse.move(x + 4 * cells["size"], y + 2 * cells["size"])
    page.mouse.down()
    page.mouse.move(x + 5 * cells["size"], y + 2 * cells["size"], steps=3)
    page.mouse.up()
    wait_for(page, "s.leak")
    expect(page.locator(".stage-lamp")).to_have_attribute("data-level", "red")
    expect(page.get_by_text("Train anyway, and watch the loss fall")).to_be_visible()
    shot(page, "stage-leak")
    page.get_by_role("button", name="Reset mask").click()
    wait_for(page, "!s.leak")
    page.locator("section.stage").focus()
    page.keyboard.press("Control+z")
    wait_for(page, "s.leak")
    page.get_by_role("button", name="Train anyway").click()
    page.get_by_role("button", name="Stop").click()
    expect(
        page.get_by_text("With a mask by hand: every position may also see the one 2 to the right").first
    ).to_be_visible()


OUT_OF_REACH = """() => {
  const found = [];
  const walk = (root) => {
    for (const e of root.querySelectorAll('*')) {
      const shown = e.tagName === 'BUTTON' && e.offsetParent;
      if (shown && e.getBoundingClientRect().right > innerWidth) found.push(e.textContent);
      if (e.shadowRoot) walk(e.shadowRoot);
    }
  };
  walk(document);
  return found;
}"""
"""The words on buttons that stand beyond the right edge of the window, also behind shadow roots."""


@pytest.mark.guarded
@pytest.mark.parametrize("context_size", [{"width": 360, "height": 740}])
def test_on_a_narrow_screen_every_button_is_within_reach_and_sentences_keep_their_width(
    page: Page, address: str, context_size: dict[str, int]
) -> None:
    visit(page, f"{address}/?objective=LM&paint.encoder=3.6%2B")
    wait_for(page, "s.layout.lanes.length > 0")
    for words in ("comes with the app", "Train anyway, and watch the loss fall"):
        assert stand(page.get_by_text(words))["width"] > 250
    assert page.evaluate(OUT_OF_REACH) == []


@pytest.mark.guarded
def test_a_shared_link_opens_the_same_state(page: Page, address: str) -> None:
    visit(page, f"{address}/?objective=span+mask&seed=4")
    to_the_end(page)  # nothing moves any more under the hand
    one, four = (stand(page.locator(f".stage-lane [data-word='{k}']")) for k in (1, 3))
    page.mouse.move(one["x"] + 9, one["y"] + 12)
    page.mouse.down()
    page.mouse.move(four["x"] + 9, four["y"] + 12, steps=5)
    page.mouse.up()
    wait_for(page, "String(s.plan.spans).includes('1:3')")
    state = to_the_end(page)
    link = page.evaluate(f"({FIND})('__stage').link()")
    visit(page, link)
    wait_for(page, f"s.name === '{state['name']}' && !s.moving")
    same = "(a, b) => JSON.stringify(a) === JSON.stringify(b)"
    wait_for(page, f"({same})(s.plan, {json.dumps(state['plan'])})")
    wait_for(page, f"({same})(s.layout.lanes, {json.dumps(state['layout']['lanes'])})")


@pytest.mark.guarded
def test_the_list_is_searched_and_walked_by_key_and_two_stages_keep_step(page: Page, address: str) -> None:
    open_stage(page, address)
    page.locator("section.stage").focus()
    page.keyboard.press("c")
    expect(page.locator(".stages-place")).to_have_count(2)
    page.locator("section.stages").focus()
    page.keyboard.press("c")
    expect(page.locator(".stages-place")).to_have_count(0)
    page.locator("section.stage").focus()
    page.keyboard.press("6")
    expect(page.locator("section.stage .stage-title")).to_have_text("PLM")
    page.keyboard.press("1")
    expect(page.locator("section.stage .stage-title")).to_have_text("LM")
    page.keyboard.press("/")
    page.keyboard.type("permuted lm")
    expect(page.locator(".picker .card")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+Enter")
    wait_for(page, "s.stages ? s.stages.length === 2 : true")
    expect(page.locator(".stages-place")).to_have_count(2)
    page.locator("section.stages").focus()
    page.keyboard.press("End")
    expect(page.locator(".stages .stage-caption b").first).to_have_text("Loss")
    expect(page.locator(".stages .stage-caption b").last).to_have_text("Loss")
    page.keyboard.press("/")
    page.locator(".picker input").fill("zzz")
    expect(page.get_by_text("No objective has 'zzz' in its name or idea; the nearest:")).to_be_visible()
    expect(page.locator(".picker .card")).to_have_count(3)
    page.locator(".picker input").fill("BERT")
    expect(page.locator(".picker .card").first).to_contain_text("MLM")
    expect(page.locator(".picker .card.active small")).to_contain_text("BERT trains with it. Hide some words")
    page.locator(".picker input").fill("mT5")
    expect(page.get_by_text("nearest is the objective 'T5 spans'")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".stage-title").first).to_have_text("T5 spans")
    page.locator(".picker .now").click()
    page.locator(".picker input").fill("mlm + .5*lm")
    expect(page.get_by_text("Enter takes the sum 'mlm + .5*lm'")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".stage-title").first).to_have_text("MLM + 0.5 LM")


def test_keys_of_the_train_page_press_its_buttons_and_f_forks(page: Page, address: str, ready: None) -> None:
    visit(page, f"{address}/?page=train")
    page.get_by_role("button", name="Train", exact=True).wait_for()
    page.locator(".key-line").wait_for(state="attached")
    page.keyboard.press("f")
    expect(page.locator(".key-line p")).to_have_text("There is no run to fork yet; press Train first.")
    page.keyboard.press("?")
    expect(page.locator(".key-line dl")).to_contain_text("fork the run at this step")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(page.get_by_text("1 of 20000")).to_be_visible()
    page.keyboard.press("f")
    expect(page.locator(".key-line p")).to_contain_text("Forked at step 1: ")
    expect(page.get_by_role("button", name="Resume")).to_have_count(0)  # the fork trains, and the page knows it
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
