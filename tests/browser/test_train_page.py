"""Journey: train a tiny model, watch it, pause, step, resume, fork, reload, compare, stop; use one's own text."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import choose, halted, open_train, steps
from tests.browsing import shot, visit, wait_until
from widgets.state.train import choice

STOPPED = re.compile(r"^stopped at step [\d,]+$")
"""What the page says of a run that was ended by hand."""


@pytest.mark.guarded
def test_train_pause_step_resume_stop_reset(page: Page, address: str, endless: None) -> None:
    open_train(page, address)
    choose(page, 1, "reviews")
    page.get_by_role("button", name="Train", exact=True).click()
    wait_until(page, lambda: steps(page) > 30)
    expect(page.get_by_text("likeliest answers")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    at = halted(page)
    page.get_by_role("button", name="Step", exact=True).click()
    wait_until(page, lambda: steps(page) == at + 1)
    shot(page, "train-light-1280")
    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: steps(page) > at + 10)
    page.get_by_role("tab", name="Stage").click()
    page.locator("canvas").first.wait_for()
    page.get_by_role("tab", name="Train", exact=True).click()
    expect(page.get_by_role("button", name="Pause")).to_be_enabled()  # the screen answers while a model trains
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text(STOPPED)).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_text("ready", exact=True)).to_be_visible()
    wait_until(page, lambda: steps(page) == 0)


def test_keys_press_the_buttons_of_their_commands(page: Page, address: str, endless: None) -> None:
    open_train(page, address)
    choose(page, 1, "reviews")
    page.get_by_text("ready", exact=True).click()  # letters that are typed into a field are no keys
    page.keyboard.press("Space")
    wait_until(page, lambda: steps(page) > 5)
    page.keyboard.press("p")
    at = halted(page)
    page.keyboard.press("s")
    wait_until(page, lambda: steps(page) == at + 1)
    page.keyboard.press("p")
    wait_until(page, lambda: steps(page) > at + 5)
    page.keyboard.press(" ")
    halted(page)
    page.keyboard.press("r")
    wait_until(page, lambda: steps(page) == 0)
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_enabled()
    page.keyboard.press("n")
    wait_until(page, lambda: steps(page) > 5)
    page.get_by_role("button", name="Stop").click()


def unfold(page: Page, name: str) -> None:
    """Open one of the tabs below the picture of a run."""
    page.get_by_role("tab", name=name).click()


@pytest.mark.guarded
def test_write_with_the_model_that_trains(page: Page, address: str, endless: None) -> None:
    open_train(page, address)
    choose(page, 0, "GPT: LM")
    choose(page, 1, "reviews")
    unfold(page, "Write")
    expect(page.get_by_text("There is no model yet.")).to_be_visible()
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("textbox", name="beginning of the text").fill("the film")
    page.get_by_role("button", name="Write", exact=True).click()
    expect(page.get_by_text("log-probability")).to_be_visible()
    first = page.locator("p.written").inner_text()
    assert first.startswith("the film")
    at = steps(page)
    wait_until(page, lambda: steps(page) > at)  # the run goes on
    page.get_by_text("Every token").click()
    expect(page.get_by_text("likeliest tokens here")).to_be_visible()
    shot(page, "train-write-1280")
    page.get_by_role("button", name="Draw another").click()
    wait_until(page, lambda: page.locator("p.written").inner_text() != first)


def set_rate(page: Page, rate: str) -> None:
    """Type another rate for the run that is there."""
    field = page.get_by_role("textbox", name="learning rate", exact=True)
    field.fill(rate)
    field.press("Enter")


MEASURED = """(gauge) => {
  const { name, step } = Bokeh.documents[0].get_model_by_name("probes").renderers.at(-1).data_source.data;
  return Array.from(step).filter((_, k) => name[k] === gauge);
}"""


def measured(page: Page, gauge: str) -> list[int]:
    """The steps at which a gauge is drawn."""
    return page.evaluate(MEASURED, gauge)


@pytest.mark.guarded
def test_change_the_rate_fork_reload_open_and_compare(
    page: Page, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One real run on the little world, whose gauges can be measured, from its first step to the comparison."""
    monkeypatch.setattr(choice, "EVALUATE_EVERY", 5)
    open_train(page, address)
    page.get_by_role("button", name="Train", exact=True).click()
    wait_until(page, lambda: steps(page) > 2)
    unfold(page, "Hyperparameters and forks")
    wait_until(page, lambda: page.get_by_role("textbox", name="learning rate", exact=True).input_value() == "0.006")
    set_rate(page, "0.003")
    expect(page.get_by_text("What would change: lr 0.006 → 0.003.")).to_be_visible()
    page.get_by_role("button", name="Change now").click()
    expect(page.get_by_text("What would change: nothing.")).to_be_visible()
    wait_until(page, lambda: steps(page) >= 12)  # the second measurement of the gauges is over
    page.get_by_role("button", name="Pause").click()
    at = halted(page)
    set_rate(page, "0.001")
    expect(page.get_by_text("What would change: lr 0.003 → 0.001.")).to_be_visible()
    page.get_by_role("button", name="Fork here").click()
    wait_until(page, lambda: steps(page) > at + 5)  # its first evaluation is over
    page.get_by_role("button", name="Pause").click()
    unfold(page, "Runs")
    expect(page.get_by_text(f"at step {at}: lr 0.003 → 0.001")).to_be_visible()
    shot(page, "train-forked-1280")
    visit(page, f"{address}/?page=train")
    wait_until(page, lambda: page.get_by_role("button", name="Open", exact=True).count() >= 2)
    for number in (0, 1):  # the newest tree comes first: the run, and below it its fork
        page.get_by_role("checkbox").nth(number).check()
    expect(page.get_by_text("needs at least two seeds on both sides")).to_be_visible()
    shot(page, "train-compared-1280")
    page.get_by_role("button", name="Open", exact=True).first.click()
    wait_until(page, lambda: steps(page) == at)
    expect(page.get_by_text("likeliest answers")).to_be_visible()
    unfold(page, "Probes")
    page.wait_for_function("Bokeh.documents[0].get_model_by_name('probes')")
    wait_until(page, lambda: measured(page, "agreement")[:2] == [0, 10])
    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: steps(page) > at)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text(STOPPED)).to_be_visible()


def test_choices_fold_where_it_is_narrow_and_what_is_typed_counts_at_once(page: Page, address: str) -> None:
    """The button follows the typing without a pause, in a browser that is made slow."""
    page.set_viewport_size({"width": 760, "height": 900})
    open_train(page, address)
    browser = page.context.new_cdp_session(page)
    field = page.get_by_role("textbox", name="steps", exact=True)
    expect(field).to_be_hidden()
    page.get_by_role("button", name="Settings: RoBERTa on world, 1,000 steps").click()
    field.wait_for()
    browser.send("Emulation.setCPUThrottlingRate", {"rate": 3})
    field.fill("7")
    page.get_by_role("button", name="Train", exact=True).click()
    browser.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    expect(page.get_by_text(re.compile(r"^\d of 7$"))).to_be_visible()
    page.get_by_role("button", name="Hide settings").click()
    expect(field).to_be_hidden()
    page.get_by_role("combobox", name="x axis").click()
    page.get_by_role("listbox").get_by_text("operations", exact=True).click()
    expect(page.get_by_text("Operations are an estimate")).to_be_visible()
    shot(page, "train-light-760")


def test_own_text_trains_and_too_little_is_a_sentence(page: Page, address: str, endless: None) -> None:
    open_train(page, address)
    scripts = page.evaluate("document.querySelectorAll('script').length")
    choose(page, 1, "my own text")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".trouble")).to_be_visible()
    page.get_by_label("paste text here").fill(
        "the old dog saw <b>the</b> cat . <script>alert(1)</script> ran .\n\n" * 200
    )
    watched = page.get_by_label("probe sentence")
    watched.fill("the dog saw <script>alert(1)</script> <b>the</b> cat")
    watched.press("Enter")
    page.get_by_role("button", name="Train", exact=True).click()
    wait_until(page, lambda: steps(page) > 10)
    expect(page.get_by_text("the dog saw", exact=False).first).to_contain_text("script")
    assert page.evaluate("document.querySelectorAll('script').length") == scripts, "typed tags are words"
    page.get_by_role("button", name="Stop").click()


def test_what_is_below_the_window_is_drawn_once_it_is_scrolled_to(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 600, "height": 500})  # where the window is narrow the head stands below the loss
    open_train(page, address)
    page.get_by_role("button", name="Train", exact=True).click()
    caption = page.get_by_text(re.compile(r"Attention weights after step \d+"))
    expect(caption).to_have_count(1)
    wait_until(page, lambda: steps(page) > 30)
    early = caption.inner_text()
    expect(caption).not_to_be_in_viewport()
    caption.scroll_into_view_if_needed()
    expect(caption).not_to_have_text(early)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text(STOPPED)).to_be_visible()
