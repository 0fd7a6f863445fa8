"""The landing view: the survey's whole table for one's own sentence, each row a door to its stage, also offline."""

import re
import time
from pathlib import Path

import pytest
from bokeh.util.token import generate_jwt_token, generate_session_id
from playwright.sync_api import Browser, Page, expect

from playground.trace.rebuild import SENTENCE, table
from tests.browser.pages import NOTHING_OVER_THE_EDGE, lane, to_the_end, wait_for, wait_for_table
from tests.browsing import shot, visit
from widgets.notebook import table as wall


def said(state: dict) -> dict:
    return {row["name"]: (row["inputs"], row["targets"]) for row in state["rows"] if not row["reason"]}


def expected(text: str, seed: int | None = None) -> dict:
    return {row.objective.name: tuple(row.survey().values()) for row in table(text, seed)[0]}


def back_to_all(page: Page) -> None:
    """Press All, once the page has turned to one objective: the stage is drawn before the two buttons change."""
    expect(page.get_by_role("button", name="One", exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="All", exact=True).click()


@pytest.mark.guarded
def test_the_door_shows_the_survey_and_ones_own_sentence_and_a_row_opens_its_stage(page: Page, address: str) -> None:
    visit(page, address)
    assert said(wait_for_table(page, "t.rows.length === 11")) == expected(SENTENCE)
    own = "Rosa baked the bread. Then her brother sold it."
    page.get_by_label("your sentence").fill(own)
    state = wait_for_table(page, "t.rows[0].targets.startsWith('Rosa baked') && t.rows[0].targets.endsWith('it .')")
    assert said(state) == expected(own)
    page.get_by_role("button", name="RTD: given").press("Enter")
    expect(page.locator("section.stage .stage-title")).to_have_text("RTD")
    assert lane(to_the_end(page), "inputs") == expected(own)["RTD"][0].lower().split()  # as its model reads it
    back_to_all(page)
    page.get_by_role("button", name="TLM: TLM needs a translation").click()
    expect(page.locator("section.stage .stage-title")).to_have_text("TLM")
    wait_for(page, "s.layout.lanes[0].cells[0].text === 'How'")
    back_to_all(page)
    expect(page.get_by_label("your sentence")).to_have_value(own)
    assert said(wait_for_table(page, "t.rows[0].targets.startsWith('Rosa')")) == expected(own)


DRAWN = """
() => {
  const walk = (root) => {
    for (const e of root.querySelectorAll('*')) {
      if (e.matches('section.wall canvas')) return e;
      if (e.shadowRoot) { const found = walk(e.shadowRoot); if (found) return found; }
    }
    return null;
  };
  const canvas = walk(document);
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const lines = [];
  for (let y = 0; y < canvas.height; y += 1) {
    for (let x = 0; x < canvas.width; x += 1) {
      if (pixels[4 * (y * canvas.width + x) + 3] > 200) { lines.push(y); break; }
    }
  }
  return lines.length / canvas.height;
}
"""
"""The share of the lines of the table's canvas on which something is drawn."""


def test_the_table_stays_while_the_first_word_is_typed_and_for_a_text_without_spaces(page: Page, address: str) -> None:
    visit(page, address)
    whole = wait_for_table(page, "t.rows.length === 11")
    field = page.get_by_label("your sentence")
    for words, width in (("I", 1280), ("วันนี้ฉันดีใจ", 1280), ("I", 390)):
        page.set_viewport_size({"width": width, "height": 900})
        field.fill(words)
        state = wait_for_table(page, f"t.width <= {width} && t.rows[0].targets === '{words}'")
        assert {row["name"] for row in state["rows"]} == {row["name"] for row in whole["rows"]}
        assert state["height"] > 300
        page.wait_for_function(f"() => ({DRAWN})() > 0.3")
    shot(page, "table-one-word-390")


NEVER_READY = """
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (message) {
  const held = typeof message === 'string' && message.includes('document_ready');
  return send.call(this, held ? message.replaceAll('bokeh_event', 'nobody') : message);
};
"""
"""A machine so busy that its browser never comes to say that the last part of the page is drawn."""


TYPED_AND_PRESSED = """(button, field) => {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, "typed in the same moment");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  button.click();
}"""
"""The app takes both at once, and must lose neither."""


def test_the_table_comes_with_the_page_and_an_early_click_is_not_lost(page: Page, address: str) -> None:
    served = page.request.get(address).text()
    assert "today you am I join with happy to" in served
    assert not re.findall(r"<script(?! defer)[^>]* src=", served), "no script holds up what stands in the page itself"
    page.add_init_script(NEVER_READY)
    page.goto(address)
    page.get_by_role("button", name="One", exact=True).click()
    expect(page.locator("section.stage")).to_be_visible()
    expect(page.locator("#first")).to_have_count(0)
    field = page.get_by_label("your sentence").element_handle()
    page.get_by_role("button", name="repeated words").evaluate(TYPED_AND_PRESSED, field)
    expect(page.get_by_label("your sentence")).to_have_value("the cat saw the dog and the dog saw the cat")


IMPATIENT = """
const real = window.setTimeout;
window.setTimeout = (act, wait, ...given) => real(act, wait / 100, ...given);
"""
"""A browser whose minutes pass in a moment."""


def test_scripts_that_come_late_leave_nothing_over_the_page(page: Page, address: str) -> None:
    page.add_init_script(IMPATIENT)
    page.route("**/bokeh.min.js*", lambda route: (time.sleep(1), route.continue_()))
    page.goto(address)
    page.get_by_role("button", name="One", exact=True).click()
    expect(page.locator("section.stage")).to_be_visible()


def test_a_script_that_does_not_come_is_said(browser: Browser, address: str) -> None:
    away = browser.new_context().new_page()
    away.route("**/bokeh.min.js*", lambda route: route.abort())
    away.goto(f"{address}/?page=train")
    expect(away.get_by_text("Loading Train …")).to_be_visible()
    expect(away.get_by_role("status")).to_have_text("A part of the app could not be loaded; reload the page.")
    away.context.close()


ELSEWHERE = """
window.WebSocket = class extends WebSocket {
  constructor(address, given) { super(address, given.map((each) => (each === "bokeh" ? each : "TOKEN"))); }
};
"""
"""A browser that comes when the visit of its page has been given up: the app begins another one for it."""


def test_a_browser_that_comes_too_late_for_its_visit_gets_another_one(page: Page, address: str) -> None:
    """Nobody answers a request for a page in that visit, so nobody else says where the style sheets are."""
    token = generate_jwt_token(generate_session_id(), extra_payload={"headers": {}, "cookies": {}, "arguments": {}})
    page.add_init_script(ELSEWHERE.replace("TOKEN", token))
    visit(page, f"{address}/?page=transfer")
    expect(page.get_by_role("button", name="Compare", exact=True)).to_be_visible()


def test_a_plan_by_hand_is_in_the_table_that_fits_and_in_the_link(page: Page, address: str) -> None:
    visit(page, f"{address}/?objective=MLM&plan=chosen%3D2&view=table")
    state = wait_for_table(page, "t.rows.length === 11")
    assert said(state)["MLM"] == ("I [MASK] happy to join with you today", "am")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        wait_for_table(page, f"t.width <= {width}")
        page.wait_for_function(NOTHING_OVER_THE_EDGE)
        shot(page, f"table-{width}")
    page.get_by_role("button", name="MLM: given").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name="PLM: given")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("section.stage .stage-title")).to_have_text("PLM")
    page.wait_for_function("() => location.search.includes('objective=PLM') && !location.search.includes('view=table')")
    page.go_back()
    expect(page.locator("section.wall canvas")).to_be_visible()
    page.go_forward()
    expect(page.locator("section.stage .stage-title")).to_be_visible()


def test_a_cell_of_a_notebook_unfolds_its_rows_without_network(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "wall.html"
    made = wall("Rosa <b>baked</b> the bread. Then her brother sold it.")
    file.write_text(made.page(), encoding="utf-8")
    assert "<b>baked" not in made.page(), "a text is never markup"
    page.goto(file.as_uri())
    page.get_by_role("button", name="PLM: given").press("Enter")
    page.locator(".wall-open section.stage").press("End")
    page.wait_for_function("document.querySelector('[id^=table-]').__table.state().opened?.name === 'ask'")
    page.keyboard.press("Escape")
    expect(page.locator(".wall-open")).to_be_hidden()
    page.get_by_text("The same in words").click()
    expect(page.locator(".wall-words tbody tr")).to_have_count(11)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the table as SVG").click()
    drawing = Path(saved.value.path()).read_text(encoding="utf-8")
    assert ">brother</text>" in drawing and "<script" not in drawing
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the table as values").click()
    lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(made.facts)
