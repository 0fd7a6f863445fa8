"""A press is heard: whatever moves, is typed or is still on its way at the same moment."""

import threading

from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from tests.browser.pages import choose, open_stage, open_train, pick, wait_for
from tests.browsing import painted, stand, visit
from widgets.app import main

PUSHED = "document.body.style.paddingTop = '90px'"
"""The page grows above what is pressed, as where the server has something to say there."""

SENT = """
window.sent = [];
const real = WebSocket.prototype.send;
WebSocket.prototype.send = function (message) {
  if (typeof message === "string" && message.includes('"events"')) window.sent.push(message);
  return real.call(this, message);
};
window.addEventListener("click", (event) => window.sent.push(`clicked ${event.isTrusted}`), true);
"""
"""What leaves the page, and the clicks, in their order."""

ON_ITS_WAY = """
window.held = [];
window.holding = false;
const real = WebSocket.prototype.send;
WebSocket.prototype.send = function (part) {
  const parts = [...(this.parts || []), part]; // header, metadata, content
  this.parts = parts.length < 3 ? parts : [];
  if (parts.length < 3) return;
  const send = () => parts.forEach((each) => real.call(this, each));
  if (window.holding && parts[2].includes('"attr":"playing"')) window.held.push(send);
  else send();
};
"""
"""A connection on which the word that the stage has come to its end is slow."""


def middle(box: FloatRect) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def press(page: Page, control: Locator) -> tuple[float, float]:
    """Put the pointer down on a control."""
    control.scroll_into_view_if_needed()
    at = middle(stand(control))
    page.mouse.move(*at)
    page.mouse.down()
    return at


def test_a_press_counts_where_it_began_though_the_page_moves_and_not_where_it_was_taken_away(
    page: Page, address: str
) -> None:
    visit(page, f"{address}/?page=transfer")
    toggle = page.get_by_role("button", name="Edit a sentence until its label flips")
    toggle.scroll_into_view_if_needed()
    x, y = press(page, toggle)
    page.mouse.move(x, y - 60, steps=3)
    page.mouse.up()
    expect(toggle).to_have_attribute("aria-pressed", "false")
    press(page, toggle)
    page.evaluate(PUSHED)
    painted(page)
    page.mouse.up()
    expect(page.get_by_role("button", name="Train a classifier")).to_be_visible()


def test_a_number_leaves_before_the_press_that_follows_it_and_the_click_is_the_persons_own(
    page: Page, address: str
) -> None:
    page.add_init_script(SENT)
    open_train(page, address)
    page.get_by_role("textbox", name="steps", exact=True).fill("7")
    page.evaluate("sent.length = 0")
    press(page, page.get_by_role("button", name="Train", exact=True))
    page.mouse.up()
    page.wait_for_function("sent.some((each) => each.includes('dom_event'))")
    number, click, event = page.evaluate("sent.filter((each) => !each.includes('scroll_position')).slice(0, 3)")
    assert '"attr":"value","new":7}' in number
    assert click == "clicked true"
    assert "dom_event" in event
    page.get_by_role("button", name="Stop", exact=True).click()


def test_a_list_that_is_closed_takes_no_further_press(page: Page, address: str) -> None:
    open_train(page, address)
    choose(page, 1, "reviews")
    painted(page)
    expect(page.locator(".MuiBackdrop-root")).to_have_count(0, timeout=1)


def test_an_objective_is_played_from_its_beginning_also_where_the_one_before_ended_just_now(
    page: Page, address: str
) -> None:
    page.add_init_script(ON_ITS_WAY)
    open_stage(page, address)
    page.evaluate("holding = true")
    wait_for(page, "s.name === 'loss' && !s.playing && !s.moving")
    pick(page, "PLM")
    expect(page.locator("section.stage .stage-title")).to_have_text("PLM")
    page.evaluate("holding = false; held.splice(0).forEach((send) => send())")
    wait_for(page, "s.name === 'loss' && !s.playing && !s.moving")


def test_a_page_that_takes_long_says_what_is_being_made(page: Page, address: str, monkeypatch) -> None:
    made, real = threading.Event(), main.PAGES["Train"]
    monkeypatch.setitem(main.PAGES, "Train", lambda store: (made.wait(30), real(store))[1])
    visit(page, f"{address}/?page=corpus")
    page.get_by_role("tab", name="Train", exact=True).click()
    expect(page.get_by_text("Loading Train …")).to_be_visible()
    made.set()
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_visible()
    expect(page.get_by_text("Loading Train …")).to_have_count(0)


def test_compare_in_the_list_is_pressed_by_mouse_and_by_finger(page: Page, address: str, browser: Browser) -> None:
    touched = browser.new_context(has_touch=True, viewport={"width": 1280, "height": 800}).new_page()
    for tab, tap in ((page, page.mouse.click), (touched, touched.touchscreen.tap)):
        visit(tab, f"{address}/?objective=MLM")
        wait_for(tab, "s.layout.lanes.length > 0")
        tab.locator(".picker .now").click()
        tap(*middle(stand(tab.locator(".picker .card[data-name=PLM] .compare"))))
        expect(tab.locator("section.stages .stage-title")).to_have_text(["MLM", "PLM"])
        chosen = tab.locator(".stage-lane button[aria-pressed=true]")
        expect(chosen.first).to_have_css("background-color", "rgba(0, 0, 0, 0)")  # the word below it is read through it
    touched.context.close()


def test_an_objective_is_pressed_while_its_list_is_drawn_again(page: Page, address: str) -> None:
    open_stage(page, address)
    now = page.locator(".picker .now")
    now.click()
    page.locator('.picker .card[data-name="SOP"]').hover()
    page.mouse.down()
    page.get_by_role("combobox", name="Search objectives").dispatch_event("input")  # as an answer to a search does
    page.mouse.up()
    expect(now).to_have_text("SOP")
