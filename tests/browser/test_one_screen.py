"""What moves is in sight: player, lamp, lanes, matrices, guesses and legend, without scrolling."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import STATE, choose, open_train, steps, wait_for
from tests.browsing import PAINTED, visit, wait_until

SIXTEEN = "Rosa baked a round loaf of bread this morning and then her brother sold it ."
TEXTS = {"8 tokens": "", "16 tokens": SIXTEEN}
STAGES = {
    "MLM": {},
    "PLM": {},
    "text infilling": {},
    "NSP": {},
    "MLM beside PLM": {"objective": "MLM", "compare": "PLM"},
}

ENDS = """() => {
  const found = { top: Infinity, bottom: 0 };
  const walk = (root) => {
    for (const e of root.querySelectorAll('*')) {
      if (e.matches('.stage-lamp, .stage-picture canvas, .stage-scrub, .stages-bar')) {
        const { top, bottom, height } = e.getBoundingClientRect();
        if (height) Object.assign(found, { top: Math.min(top, found.top), bottom: Math.max(bottom, found.bottom) });
      }
      if (e.shadowRoot) walk(e.shadowRoot);
    }
  };
  walk(document);
  return found;
}"""
"""From where to where what moves reaches down the window: players, lamps and the pictures with all that is on them."""


def address_of(address: str, name: str, text: str) -> str:
    """The address of a stage, or of two beside each other."""
    return f"{address}/?{urlencode(({'objective': name} | STAGES[name]) | ({'text': text} if text else {}))}"


def in_sight(page: Page) -> None:
    """All that moves is inside the window, which is not scrolled."""
    page.evaluate(PAINTED)
    ends, height = page.evaluate(ENDS), page.viewport_size["height"]  # type: ignore[index]
    assert 0 <= ends["top"] < ends["bottom"] <= height, ends


GUARDED = ("MLM beside PLM", "16 tokens")
"""The case that `make test` looks at too: the one with the most in it."""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(name, text, marks=[pytest.mark.guarded] if (name, text) == GUARDED else [])
        for name in STAGES
        for text in TEXTS
        if (name, text) != ("NSP", "16 tokens")  # with its second text 24 tokens
    ],
)
def test_a_stage_is_on_one_screen(page: Page, address: str, name: str, text: str) -> None:
    visit(page, address_of(address, name, TEXTS[text]))
    wait_for(page, "(s.stages || [s]).every((each) => each.layout.lanes.length)")
    for height in (800, 720):
        page.set_viewport_size({"width": 1280, "height": height})
        in_sight(page)
    sides = page.evaluate(f"({STATE}.stages || [{STATE}]).flatMap((s) => s.layout.matrices.map((box) => box.size))")
    assert all(side >= 10 for side in sides), "every word stands at its row"


def test_the_guesses_of_a_model_stand_beside_its_matrix(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, address_of(address, "MLM", ""))
    state = wait_for(page, "s.name === 'loss' && !s.moving && s.answers.guesses.length")
    in_sight(page)
    [matrix], band = state["layout"]["matrices"], state["answers"]["band"]
    assert band["x"] > matrix["x"] + matrix["m"] * matrix["size"], "to its right"
    assert matrix["y"] - 80 < band["top"] < matrix["y"] + 40, "at its height"


def test_on_a_telephone_the_first_lane_is_in_the_upper_half(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, address_of(address, "MLM", ""))
    wait_for(page, "s.layout.lanes.length > 0")
    page.evaluate(PAINTED)
    assert page.locator(".stage-picture canvas").bounding_box()["y"] < 422  # type: ignore[index]
    name = page.locator(".stage-caption b")
    assert name.evaluate("e => e.scrollWidth <= e.clientWidth"), "the name of the step is whole"


FILM = "Bokeh.index.query_one((view) => view.model.name === 'film')?.el.getBoundingClientRect()"


@pytest.mark.parametrize("short", [False, True])
def test_training_is_on_one_screen(page: Page, address: str, short: bool) -> None:
    """Also below the line which says that a text is short; the drawer of settings can be shut."""
    open_train(page, address)
    if short:
        choose(page, 1, "my own text")
        page.get_by_label("paste text here").fill(f"{SIXTEEN} " * 6)
    page.get_by_role("button", name="Train", exact=True).click()
    wait_until(page, lambda: steps(page) > 2)
    for height in (800, 720):
        page.set_viewport_size({"width": 1280, "height": height})
        page.wait_for_function(f"() => {{ const film = {FILM}; return film?.height && film.bottom <= innerHeight; }}")
        for part in (page.get_by_text("likeliest answers"), page.get_by_label("head", exact=True)):
            expect(part).to_be_in_viewport()
    expect(page.locator(".notice")).to_have_count(int(short))
    page.get_by_role("button", name="Hide or show the settings").click()
    expect(page.get_by_role("combobox", name="system", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Stop").click()
