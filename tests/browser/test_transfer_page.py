"""Journey: fine-tune the model just trained in three ways and read the verdict; a visit that ends, ends its threads."""

import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from playground.training import train
from playground.training.store.metrics import recorded
from playground.training.store.runs import Runs
from tests.browser.test_train_page import choose, open_train
from tests.browsing import PATIENCE, shot, still, visit, wait_until
from tests.runs import run_of, tiny
from widgets.state.run_task_matrix import RunTaskMatrixStore
from widgets.state.train import TrainStore
from widgets.state.transfer import TransferStore


def base_trained_here(page: Page, address: str, steps: int) -> None:
    """A model of reviews is the base, once it has learnt for some steps."""
    visit(page, f"{address}/?page=1")
    choose(page, 1, "reviews")
    page.get_by_role("tab", name="Transfer").click()
    page.get_by_role("button", name="Train one here").click()
    base = page.get_by_text("RoBERTa on reviews, step")
    wait_until(page, lambda: base.count() == 1 and int(re.findall(r"step ([\d,]+)", base.inner_text())[0]) >= steps)


@pytest.mark.guarded
def test_compare_strategies_from_a_model_trained_here(page: Page, address: str, monkeypatch) -> None:
    monkeypatch.setattr(TransferStore.param.seeds, "default", 2)
    monkeypatch.setattr(TransferStore.param.steps, "default", 40)
    visit(page, f"{address}/?page=2")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("There is no trained model yet")).to_be_visible()
    base_trained_here(page, address, 150)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("standard error")).to_be_visible(timeout=3 * PATIENCE)
    for name in ("random start", "feature-based", "full", "adapters"):
        expect(page.get_by_role("cell", name=name, exact=True)).to_be_visible()
    unmoved = page.get_by_role("cell", name="+0.000 ± 0.000")
    expect(unmoved).to_have_count(2)  # frozen, and adapters once they are taken out
    expect(page.get_by_text("taken out, all old outputs are bit for bit what they were")).to_be_visible()
    shot(page, "transfer-light-1280")
    page.locator("header button").last.click()
    shot(still(page), "transfer-dark-1280")
    page.set_viewport_size({"width": 360, "height": 1100})
    wait_until(page, lambda: page.evaluate(BEYOND, 360) == [])  # nothing stands beyond the edge of a telephone
    shot(still(page), "transfer-dark-360")
    compare = page.get_by_role("button", name="Compare", exact=True)
    expect(compare).to_be_hidden()  # what was asked for is seen, and not the choices
    page.get_by_role("button", name="4 strategies: change").click()
    expect(compare).to_be_visible()


def test_a_sentence_is_edited_until_its_label_flips(page: Page, address: str) -> None:
    base_trained_here(page, address, 150)
    page.get_by_role("button", name="Edit a sentence until its label flips").click()
    page.get_by_role("button", name="Train a classifier").click()
    sentence = page.get_by_label("sentence", exact=True)
    expect(page.get_by_text("and still is")).to_be_visible(timeout=2 * PATIENCE)
    began = page.get_by_text("It began as").inner_text().split("'")[1]
    sentence.fill({"bad": "a great and wonderful film .", "good": "an awful and boring film ."}[began])
    expect(page.get_by_text(f"Flipped: it began as '{began}'")).to_be_visible()


BEYOND = """(width) => {
  const found = [];
  const walk = (root) => [...root.children].forEach((e) => {
    const box = e.getBoundingClientRect();
    const scrolls = ['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX);
    if (box.width > 1 && box.right > width + 1) found.push(`${e.tagName} ${e.className} ${Math.round(box.right)}`);
    if (!scrolls || e === document.body) { walk(e); if (e.shadowRoot) walk(e.shadowRoot); }
  });
  walk(document.body);
  return found.slice(0, 5);
}"""


def test_strategies_are_searched_walked_by_key_and_chosen(page: Page, address: str) -> None:
    visit(page, f"{address}/?page=2")
    chips = page.get_by_role("list", name="chosen strategies").get_by_role("listitem")
    expect(chips).to_have_count(4)
    search = page.get_by_role("searchbox", name="Search strategies")
    search.fill("starting point")
    expect(page.get_by_role("checkbox")).to_have_count(1)
    expect(page.get_by_role("group", name="penalties and replay")).to_be_visible()
    search.press("ArrowDown")
    page.keyboard.press("Space")
    names = ("random start", "feature-based", "full", "adapters", "L2-SP")
    expect(chips).to_have_text([f"{name}×" for name in names])
    expect(page.get_by_text("arXiv:1802.01483, sec. 3", exact=True)).to_be_visible()
    page.get_by_role("button", name="leave out full", exact=True).press("Enter")
    expect(chips).to_have_count(4)
    search.fill("")
    page.get_by_role("checkbox", name="random start").press("ArrowDown")
    expect(page.get_by_role("checkbox", name="feature-based")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("checkbox", name="few-shot prompting")).to_be_focused()


def test_the_task_says_what_it_asks_and_may_be_a_file_of_ones_own(page: Page, address: str, tmp_path: Path) -> None:
    visit(page, f"{address}/?page=2")
    choose(page, 2, "similarity")
    expect(page.get_by_text("Measured: Pearson correlation")).to_be_visible()
    choose(page, 2, "my own labelled file")
    expect(page.get_by_text("No labelled file is chosen yet")).to_be_visible()
    rows = "".join(f"the film was {('good', 'bad')[k % 2]} number {k},{('yes', 'no')[k % 2]}\n" for k in range(80))
    (tmp_path / "films.csv").write_text(f"said,liked\n{rows}", encoding="utf-8")
    page.locator('input[type="file"]').last.set_input_files(tmp_path / "films.csv")
    expect(page.get_by_text("which of 2 labels a text of films.csv has: no, yes")).to_be_visible()
    expect(page.get_by_text("the label is in the column 'liked'")).to_be_visible()
    shot(page, "transfer-own-file-1280")


def test_training_ends_with_its_visit(page: Page, address: str, endless: None) -> None:
    open_train(page, address)
    before = training_threads()
    page.get_by_role("button", name="Train", exact=True).click()
    wait_until(page, lambda: bool(training_threads() - before))
    mine = training_threads() - before
    page.goto("about:blank")
    wait_until(page, lambda: not mine & training_threads())  # nobody looks, nobody can stop it: it must stop itself


def training_threads() -> set[threading.Thread]:
    return {t for t in threading.enumerate() if t.name.startswith("train-")}


def test_kept_runs_are_tried_on_a_task_and_one_is_taken(page: Page, address: str, tmp_path: Path, monkeypatch) -> None:
    for seed, name in enumerate(("one", "two")):
        made = run_of(entry=tiny(steps=3), steps=3, seed=seed, out=tmp_path / name)
        for _ in Runs(tmp_path).recorded(name, made, recorded(made, train(made))):
            pass
    matrix = RunTaskMatrixStore(tmp_path, tasks=["sentiment"])
    monkeypatch.setattr("widgets.state.app.RunTaskMatrixStore", lambda _: matrix)
    monkeypatch.setattr("widgets.state.run_task_matrix.STEPS", 3)
    monkeypatch.setattr(TrainStore, "kept", lambda _: Runs(tmp_path).all())
    visit(page, f"{address}/?page=2")
    page.get_by_role("button", name="Which run suits which task?").click()
    page.get_by_role("button", name="Evaluate every run on every task").click()
    expect(page.get_by_text(re.compile("sentiment: (one leads two|two leads one)"))).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^two 0\\.\\d{3}"))).to_be_visible()
    page.get_by_role("button", name="Use this run").click()
    expect(page.get_by_text("There is no run 'one'")).to_be_visible()
