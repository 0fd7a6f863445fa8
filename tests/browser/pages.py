"""What several journeys do: open a page, choose on it, read what it shows."""

import re
from collections.abc import Iterator

import panel as pn
from playwright.sync_api import Page, expect

from tests.browsing import PATIENCE, visit, wait_until

HANDLE = "document.querySelector('[id^=stage-]').__stage"
"""The stage of a page that was saved as a file."""

FIND = """
(name) => {
  const walk = (root) => {
    for (const e of root.querySelectorAll('*')) {
      if (e[name]) return e[name];
      if (e.shadowRoot) { const found = walk(e.shadowRoot); if (found) return found; }
    }
    return null;
  };
  return walk(document);
}
"""
"""A stage or a table, also behind shadow roots."""

STATE = f"(({FIND})('__stage')?.state() ?? null)"
NOTHING_OVER_THE_EDGE = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def wait_for(page: Page, condition: str) -> dict:
    """Wait until the stage's state `s` meets a condition written in JavaScript."""
    met = page.wait_for_function(f"() => {{ const s = {STATE}; return s && ({condition}) && s; }}", timeout=PATIENCE)
    return met.json_value()


def wait_for_table(page: Page, condition: str) -> dict:
    """Wait until the state `t` of the table of objectives meets a condition written in JavaScript."""
    state = f"({FIND})('__table')?.state()"
    met = page.wait_for_function(f"() => {{ const t = {state}; return t && ({condition}) && t; }}", timeout=PATIENCE)
    return met.json_value()


def lane(state: dict, name: str) -> list[str]:
    return next(([c["text"] for c in each["cells"]] for each in state["layout"]["lanes"] if each["name"] == name), [])


def open_stage(page: Page, address: str) -> Page:
    visit(page, f"{address}/?view=stage")
    page.get_by_role("tab", name="Stage").wait_for()
    wait_for(page, "s.layout.lanes.length > 0")
    return page


def pick(page: Page, objective: str) -> None:
    now = page.locator(".picker .now")  # all that is seen of the list where it is narrow
    now.wait_for(state="attached")
    if now.is_visible():
        now.click()
    page.locator(f'.picker .card[data-name="{objective}"]').click()


def to_the_end(page: Page) -> dict:
    page.locator("section.stage").focus()
    page.keyboard.press("End")
    last = "['ask', 'ask 2', 'visibility', 'loss'].includes(s.name)"
    return wait_for(page, f"{last} && s.layout.matrices.length > 0 && !s.playing && !s.moving")


def open_train(page: Page, address: str) -> Page:
    """The page alone: no other one has to be made before it."""
    visit(page, f"{address}/?page=train")
    page.get_by_role("button", name="Train", exact=True).wait_for()
    return page


def choose(page: Page, number: int, option: str) -> None:
    """Pick an option of the n-th select of the page."""
    page.get_by_role("combobox").nth(number).click()
    page.get_by_role("listbox").get_by_text(option, exact=True).click()


def steps(page: Page) -> int:
    """The finished steps as the page says them; -1 while it says none."""
    said = page.get_by_text(re.compile(r"^\d+ of \d+$")).all_inner_texts()
    return int(said[0].split()[0]) if len(said) == 1 else -1


def halted(page: Page) -> int:
    """The finished steps of a run that was paused, once the step that was being taken is done."""
    expect(page.get_by_text("paused", exact=True)).to_be_visible()
    return steps(page)


def base_trained_here(page: Page, address: str, steps: int) -> None:
    """A model of reviews is the base, once it has learnt for some steps."""
    visit(page, f"{address}/?page=train")
    choose(page, 1, "reviews")
    page.get_by_role("tab", name="Transfer").click()
    page.get_by_role("button", name="Train one here").click()
    base = page.get_by_text("RoBERTa on reviews, step")
    wait_until(page, lambda: base.count() == 1 and int(re.findall(r"step ([\d,]+)", base.inner_text())[0]) >= steps)


def sessions(address: str) -> Iterator:
    """The visits that the app holds."""
    server = next(s for s, *_ in pn.state._servers.values() if address.endswith(f":{s.port}"))
    yield from server.get_sessions("/")
