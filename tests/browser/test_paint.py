"""What the stage paints: states that need no colour, and a size that fits a wall."""

import re
from pathlib import Path

from playwright.sync_api import Page

from playground.trace.frames import STATES
from tests.browser.pages import HANDLE
from tests.browser.stage_gallery import cell, frame, lane, matrix, record
from widgets.animation.export_html import page as saved

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
    tokens += [shown([cell("word", "t0", "kept", scored=True)], [])]
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
