"""From the landing table to a stage whose keys do what its list says."""

import re

from playwright.sync_api import Page, expect

from tests.browser.pages import open_stage, pick, wait_for, wait_for_table
from tests.browsing import visit

PRESSED = """
() => {
  const find = (root) => {
    for (const e of root.querySelectorAll('*')) {
      if (e.matches('section.stage')) return e;
      const inner = e.shadowRoot && find(e.shadowRoot);
      if (inner) return inner;
    }
  };
  const stage = find(document);
  const press = (at, key, more = {}) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true, ...more });
    at.dispatchEvent(event);
    return event.defaultPrevented;
  };
  const named = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'Escape', 'Enter', 'Delete', ' '];
  const signs = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((s) => !/[A-Z]/.test(s));
  const toggles = ['m', 'g', 'b', 't', '?', 'v'];
  const plain = [...named, ...signs].filter((key) => {
    const did = press(stage, key);
    if (toggles.includes(key)) press(stage, key);
    return did;
  });
  const word = stage.querySelector('[data-word]');
  const onWord = ['Enter', 'Delete', 'Tab'].filter((key) => press(word, key));
  const withMore = [[' ', { shiftKey: true }, 'Shift+Space'], ['z', { ctrlKey: true }, 'Ctrl+Z'],
    ['Z', { ctrlKey: true, shiftKey: true }, 'Ctrl+Shift+Z'], ['x', { ctrlKey: true }, 'Ctrl+X']];
  const held = withMore.filter(([key, more]) => press(stage, key, more)).map(([, , name]) => name);
  return [plain, onWord, held];
}
"""
"""Which keys do something: whoever hears a key and acts keeps the browser from acting too."""

NAMED = {"Space": " ", "Left": "ArrowLeft", "Right": "ArrowRight", "Up": "ArrowUp", "Down": "ArrowDown"}
ALSO = {"=", "Backspace"}
"""The plus without its shift, and the other key that deletes: not worth a line of the list."""


def listed(names: list[str]) -> set[str]:
    """The keys of the list on screen, one by one."""
    alone = {", and .": [",", "."], "+ and -": ["+", "-"], "1 to 9, 0": list("1234567890")}
    return {NAMED.get(key, key) for name in names for key in alone.get(name, name.split(", "))}


def test_from_the_table_to_a_stage_whose_keys_are_those_of_its_list(page: Page, address: str) -> None:
    visit(page, address)
    wait_for_table(page, "t.rows.length === 11")
    page.get_by_role("button", name=re.compile("^LM: given")).press("Enter")
    expect(page.locator("section.stage .stage-title")).to_have_text("LM")
    page.go_back()
    expect(page.locator("section.wall")).to_be_visible()  # one press, and the table is there again
    page.get_by_role("button", name=re.compile("^LM: given")).press("Enter")
    page.get_by_role("button", name="Compare with MLM").click()
    expect(page.locator("section.stages .stage-title")).to_have_text(["LM", "MLM"])
    page.get_by_role("button", name="LM alone").click()
    expect(page.locator("section.stages")).to_have_count(0)
    page.get_by_role("button", name="Quiz").click()
    reveal = page.get_by_role("button", name="Reveal")
    style = reveal.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
    assert style[0] != style[1], "it can be read"
    wait_for(page, "!s.playing")
    page.locator(".stage-quiz button").first.click()
    reveal.click()
    expect(page.locator(".stage-quiz [role=status]")).to_have_text(re.compile(r"^\d of \d right"))
    for name in ("Train this", "Train a new one", "Share"):
        expect(page.get_by_role("button", name=name)).to_be_visible()

    pick(page, "MLM")
    page.get_by_label("your sentence").fill("the cat saw the dog near the old barn . " * 9)
    wait_for(page, "s.stretch && s.plan.chosen && s.stretch.length === 90")
    page.locator("section.stage").press("?")
    names = listed(page.locator(".stage-keys kbd").all_inner_texts())
    plain, on_word, held = page.evaluate(PRESSED)
    ours = {name for name in names if len(name) == 1 or name.startswith("Arrow") or name in ("Home", "End", "Escape")}
    assert set(plain) - ALSO == {name.lower() if name.isalpha() and len(name) == 1 else name for name in ours}
    assert {"Enter", "Delete"} == set(on_word) <= names
    assert {"Shift+Space", "Ctrl+Z", "Ctrl+Shift+Z"} == set(held) <= names
    rest = names - ours - set(on_word) - set(held)
    assert rest == {"Tab", "Shift+Left", "Shift+Right"}, "the browser's own, and what needs a word with a run"


def test_arrow_keys_on_the_slider_move_it_by_a_step(page: Page, address: str) -> None:
    open_stage(page, address)
    slider = page.get_by_role("slider", name="Animation step")
    slider.press("Home")
    expect(slider).to_have_value("0")
    slider.press("ArrowRight")
    expect(slider).to_have_value("1")
    slider.press("ArrowLeft")
    expect(slider).to_have_value("0")
