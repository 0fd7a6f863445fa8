"""The first minute of a visitor, the keys of the stage as its list says them, and states that need no colour."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from playground.trace.frames import STATES
from tests.browser.pages import HANDLE, wait_for, wait_for_table
from tests.browser.stage_gallery import cell, frame, lane, matrix, record
from tests.browsing import visit
from widgets.animation.export_html import page as saved

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


def test_the_first_minute(page: Page, address: str) -> None:
    visit(page, address)
    wait_for_table(page, "t.rows.length === 11")
    page.get_by_role("button", name=re.compile("^LM: given")).press("Enter")
    expect(page.locator("section.stage .stage-title")).to_have_text("LM")
    page.go_back()
    expect(page.locator("section.wall")).to_be_visible()  # one press, and the table is there again
    page.get_by_role("button", name=re.compile("^LM: given")).press("Enter")
    page.get_by_role("button", name="Same sentence as MLM").click()
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
    for name in ("Train this", "Train a small model now", "Share"):
        expect(page.get_by_role("button", name=name)).to_be_visible()

    page.locator(".picker .card[data-name='MLM']").click()
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


TOKENS = [*STATES.values(), "inserted", "special", "padding"]
COLOUR = re.compile(r"#[0-9a-f]{3,8}|rgba?\([^)]*\)|(fill|stroke)-opacity=\"[^\"]*\"")


def drawings(page: Page, tmp_path: Path, records: list[dict]) -> list[str]:
    """The records as the stage draws them, without any colour."""
    file = tmp_path / "states.html"
    file.write_text(saved(records[0], "states"), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_function(f"{HANDLE} !== undefined")
    drawn = page.evaluate(
        f"records => records.map(record => {{ {HANDLE}.update(record); return {HANDLE}.svg(); }})", records
    )
    return [COLOUR.sub("", picture) for picture in drawn]


def test_every_state_can_be_told_without_colour(page: Page, tmp_path: Path) -> None:
    def shown(cells: list[dict], matrices: list[dict]) -> dict:
        frames = [frame("ask", "", [lane("inputs", cells)], matrices)]
        return record("states", "", "", frames)

    tokens = [shown([cell("word", "t0", state)], []) for state in TOKENS]
    tokens += [shown([cell("word", "t0", "kept", language=k)], []) for k in (1, 2)]
    tokens += [shown([cell("word", "t0", "kept", graded=True)], [])]
    squares = [
        shown([cell("word", "t0", "kept")], [matrix("encoder", "", ["word"], ["word"], lambda i, j, c=code: c)])
        for code in range(5)
    ]
    for pictures in (drawings(page, tmp_path, tokens), drawings(page, tmp_path, squares)):
        bodies = [re.sub(r"<text[^>]*>[^<]*</text>", "", picture) for picture in pictures]  # nor by its legend
        assert len(set(bodies)) == len(bodies)


def test_it_repeats_from_the_start_and_is_twice_as_large_on_a_wall(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "wall.html"
    frames = [frame(name, "", [lane("inputs", [cell("word", "t0")])]) for name in ("text", "choose", "ask")]
    file.write_text(saved(record("wall", "", "", frames), "wall"), encoding="utf-8")
    page.set_viewport_size({"width": 3840, "height": 2160})
    page.goto(file.as_uri())
    page.wait_for_function(f"{HANDLE} !== undefined")
    page.evaluate("document.body.style.maxWidth = 'none'")
    page.wait_for_function("document.querySelector('section.stage').style.zoom === '2'")
    page.get_by_role("button", name="Repeat").click()
    page.get_by_role("button", name="Last frame").click()
    page.get_by_role("button", name="Step back").click()
    page.wait_for_function(f"{HANDLE}.state().frame === 1 && !{HANDLE}.state().moving")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"{HANDLE}.state().frame === 2")
    page.wait_for_function(f"{HANDLE}.state().frame === 0 && {HANDLE}.state().playing")
