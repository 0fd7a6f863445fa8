"""Tables that are taken home: both writers, that of the page and that of the engine, write the same cells."""

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from playground.finetuning.report.page import csv_text
from widgets.animation import export_html
from widgets.animation import page as stage_page
from widgets.bundle import beside
from widgets.notebook import table as wall
from widgets.state.stage import StageStore

CELLS = [
    ['=HYPERLINK("http://x/","a, b")', "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1"],
    ["a, b", 'say "so"', "two\nlines", "", " = ", "x=1", "don't"],
    ["-0.5", "-3", "1e-05", "-2.5E-3", -0.5, 7, 0.25],
]
GUARDED = [
    ['\'=HYPERLINK("http://x/","a, b")', "'=1+1", "'+1+1", "'-1+1", "'@SUM(A1)", "'\t=1", "'\r=1"],
    ["a, b", 'say "so"', "two\nlines", "", " = ", "x=1", "don't"],
    ["-0.5", "-3", "1e-05", "-2.5E-3", "-0.5", "7", "0.25"],
]


CSV_MODULE = beside(export_html.__file__, "js/files.js").replace("export ", "")


def cells_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_both_writers_guard_what_is_no_number_and_lose_nothing(page: Page) -> None:
    write = f"(cells) => {{ {CSV_MODULE}; return csvText(cells); }}"
    assert cells_of(csv_text(CELLS)) == cells_of(page.evaluate(write, CELLS)) == GUARDED


@pytest.mark.parametrize(
    ("name", "words"),
    [("PLM", ["'=", ",", '"', "'@", "'-", "then"]), ("LM", ["[START]", "'=", ",", '"', "'@", "'-"])],
)
def test_the_matrix_of_the_stage_holds_no_formula(page: Page, tmp_path: Path, name: str, words: list[str]) -> None:
    store = StageStore(objective=name, text='= , " @ - then')
    assert store.trouble == ""
    file = tmp_path / "stage.html"
    file.write_text(stage_page(store.record()), encoding="utf-8")
    page.goto(file.as_uri())
    page.locator("section.stage").press("End")
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as saved:
        page.locator("button", has_text="(CSV)").first.click()
    head, *rows = cells_of(Path(saved.value.path()).read_bytes().decode())
    assert head == ["reader", *words]
    assert [row[0] for row in rows] == head[1:]
    assert {cell for row in rows for cell in row[1:]} <= {"0", "1"}


def test_the_table_of_all_objectives_holds_no_formula(page: Page, tmp_path: Path) -> None:
    made = wall('=HYPERLINK ("x") said so, then left .')
    file = tmp_path / "table.html"
    file.write_text(made.page(), encoding="utf-8")
    page.goto(file.as_uri())
    expect(page.get_by_role("button", name="Save the table as values")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the table as values").click()
    rows = cells_of(Path(saved.value.path()).read_bytes().decode())
    assert rows[0] == ["objective", "inputs", "targets", "answers", "tokens"]
    assert len(rows) == 1 + len(made.facts)
    words = [cell for row in rows[1:] for cell in row[1:3]]
    assert any(word.startswith("'=") for word in words)
    assert not [word for word in words if word[:1] in tuple("=+-@\t\r")]
    assert all(cell.isdecimal() for row in rows[1:] for cell in row[3:])
