"""A run baked by the command line, and one exported from a notebook: opened from a file, with the network cut."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Page, expect

from playground.cli import main
from playground.training import train
from playground.training.observe.replay import load, watched
from playground.training.store.metrics import recorded
from tests.browsing import PATIENCE, stand
from tests.runs import reviews, run_of
from widgets import notebook

HANDLE = "document.querySelector('[id^=replay-]').__replay"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One run, twice: baked from its folder, and as cells of a notebook that nbconvert has exported."""
    folder = tmp_path_factory.mktemp("replay")
    run = run_of(steps=40, out=folder / "run")
    for _ in watched(run, recorded(run, train(run))):
        pass
    assert main(["bake", str(folder / "run"), "-o", str(folder / "baked.html")]) == 0
    return {"baked": folder / "baked.html", "notebook": exported(folder)}


def exported(folder: Path) -> Path:
    """What `train` and `stage(model=...)` leave in cells, as `nbconvert --to html` writes it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYGROUND_HEADLESS", "1")
        trained = notebook.train("RoBERTa", reviews(), steps=12, batch_size=8, seq_len=16)
        pictures = [trained._repr_html_(), notebook.stage("MLM", model=trained)._repr_mimebundle_()["text/html"]]
    cells = [nbformat.v4.new_code_cell("", outputs=[shown(html)]) for html in pictures]
    page = folder / "notebook.html"
    exporter = HTMLExporter(mathjax_url="", require_js_url="")
    page.write_text(exporter.from_notebook_node(nbformat.v4.new_notebook(cells=cells))[0], encoding="utf-8")
    return page


def shown(html: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("display_data", data={"text/html": html})


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """A page without a network: whatever is asked for beside the file itself fails the test, as does any error."""
    context, trouble = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True), []
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    asked = ("file:", "data:", "blob:")
    tab.on("request", lambda sent: None if sent.url.startswith(asked) else trouble.append(sent.url))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    yield tab
    context.close()
    assert not trouble


def at_step(tab: Page, step: int) -> None:
    tab.wait_for_function(f"{HANDLE}.state().step === {step}")


@pytest.mark.parametrize("kind", [pytest.param("baked", marks=pytest.mark.guarded), "notebook"])
def test_a_run_is_scrubbed_without_kernel_and_network(kind: str, files: dict[str, Path], offline: Page) -> None:
    tab = offline
    tab.goto(files[kind].as_uri())
    tab.wait_for_function("document.querySelector('[id^=replay-]')?.__replay")
    last = tab.evaluate(f"{HANDLE}.state()")
    assert last["at"] == last["moments"] - 1 and last["stage"]["answers"]["step"] == last["step"]
    scrub = tab.get_by_role("slider", name="Training step")
    scrub.fill("3")
    at_step(tab, 3)
    state = tab.evaluate(f"{HANDLE}.state()")
    assert (state["at"], state["stage"]["answers"]["step"]) == (3, 3)
    expect(scrub).to_have_attribute("aria-valuetext", re.compile("^step 3, training"))
    scrub.focus()
    scrub.press("Home")
    at_step(tab, 0)
    expect(tab.locator(".replay-said")).to_contain_text("before training")
    scrub.press("ArrowRight")
    at_step(tab, 1)
    tab.locator(".replay section.stage").focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function(f"{HANDLE}.state().stage.name === 'loss' && !{HANDLE}.state().stage.moving")
    assert tab.evaluate(f"{HANDLE}.state().step") == 1, "the frames move on, the moment stays"


def test_the_numbers_on_screen_are_those_in_the_folder(files: dict[str, Path], offline: Page) -> None:
    tab, replay = offline, load(files["baked"].parent / "run")
    tab.goto(files["baked"].as_uri())
    tab.wait_for_function("document.querySelector('[id^=replay-]')?.__replay")
    tab.evaluate(f"{HANDLE}.stage.set({[f['name'] for f in replay.last['frames']].index('loss')}, 0)")
    every = f"(k) => {{ {HANDLE}.show(k); return {HANDLE}.state().stage.answers; }}"
    told = tab.evaluate(f"[...Array({len(replay.moments)}).keys()].map({every})")
    for k, (answers, moment) in enumerate(zip(told, replay.moments, strict=True)):
        assert [p["loss"] for p in answers["prices"]] == pytest.approx([g["loss"] for g in moment["guesses"]])
        assert [g["first"] for g in answers["guesses"]] == [g["top"][0][0] for g in moment["guesses"]]
        assert answers["step"] == moment["step"] == k
    tab.locator(".replay section.stage").focus()
    tab.keyboard.press("t")
    rows = tab.locator(".stage-table tbody tr")
    expect(rows).to_have_count(len(replay.attention["encoder"][-1, -1][0]))
    weights = replay.attention["encoder"][-1, -1].double().mean(0) / 255
    shown = [row.split("\t")[1:] for row in rows.all_inner_texts()]
    assert shown == [["<1 %" if 0 < w < 0.01 else f"{int(100 * w + 0.5)} %" for w in row] for row in weights.tolist()]


def test_the_run_plays_and_the_curve_is_a_scrub_bar_too(files: dict[str, Path], offline: Page) -> None:
    tab = offline
    tab.goto(files["baked"].as_uri())
    tab.wait_for_function("document.querySelector('[id^=replay-]')?.__replay")
    box = stand(tab.locator(".replay-curve"))
    tab.mouse.click(box["x"] + 46, box["y"] + 60)
    at_step(tab, 0)
    tab.get_by_role("button", name="Play the run").click()
    tab.wait_for_function(f"{HANDLE}.state().step >= 2")
    tab.get_by_role("button", name="Pause the run").click()
    tab.wait_for_function(f"!{HANDLE}.state().playing")
