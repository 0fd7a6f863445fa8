"""Journey: fine-tune the model just trained in three ways and read the verdict; a visit that ends, ends its threads."""

import threading
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.test_train_page import choose, open_train, wait_until
from tests.browsing import shot, visit


def test_compare_strategies_from_a_model_trained_here(page: Page, address: str) -> None:
    visit(page, f"{address}/?page=2")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("There is no trained model yet")).to_be_visible()
    page.get_by_role("tab", name="Train").click()
    choose(page, 1, "reviews")
    page.get_by_role("tab", name="Transfer").click()
    page.get_by_role("button", name="Train one here").click()
    wait_until(page, lambda: page.get_by_text("BERT on reviews, step").count() == 1)
    page.wait_for_timeout(3000)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("standard error")).to_be_visible(timeout=60_000)
    for name in ("feature-based", "full", "gradual unfreezing"):
        expect(page.get_by_role("cell", name=name, exact=True)).to_be_visible()
    expect(page.get_by_role("cell", name="+0.000 ± 0.000")).to_be_visible()
    shot(page, "transfer-light-1280")
    page.locator("header button").last.click()
    page.wait_for_timeout(600)
    shot(page, "transfer-dark-1280")
    page.set_viewport_size({"width": 800, "height": 1100})
    page.wait_for_timeout(600)
    shot(page, "transfer-dark-800")


def test_the_task_says_what_it_asks_and_may_be_a_file_of_ones_own(page: Page, address: str, tmp_path: Path) -> None:
    visit(page, f"{address}/?page=2")
    choose(page, 0, "similarity")
    expect(page.get_by_text("Measured: Pearson correlation")).to_be_visible()
    choose(page, 0, "my own labelled file")
    expect(page.get_by_text("No labelled file is chosen yet")).to_be_visible()
    rows = "".join(f"the film was {('good', 'bad')[k % 2]} number {k},{('yes', 'no')[k % 2]}\n" for k in range(80))
    (tmp_path / "films.csv").write_text(f"said,liked\n{rows}", encoding="utf-8")
    page.locator('input[type="file"]').last.set_input_files(tmp_path / "films.csv")
    expect(page.get_by_text("which of 2 labels a text of films.csv has: no, yes")).to_be_visible()
    expect(page.get_by_text("the label is in the column 'liked'")).to_be_visible()
    shot(page, "transfer-own-file-1280")


def test_training_ends_with_its_visit(page: Page, address: str) -> None:
    open_train(page, address)
    before = training_threads()
    page.get_by_role("button", name="Train", exact=True).click()
    wait_until(page, lambda: bool(training_threads() - before))
    mine = training_threads() - before
    page.goto("about:blank")
    end = time.monotonic() + 30
    while mine & training_threads() and time.monotonic() < end:
        page.wait_for_timeout(250)
    assert not mine & training_threads(), "nobody looks, nobody can stop it: it must stop itself"


def training_threads() -> set[threading.Thread]:
    return {t for t in threading.enumerate() if t.name.startswith("train-")}
