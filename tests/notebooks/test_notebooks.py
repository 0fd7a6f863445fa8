"""Every notebook: it runs by papermill, holds its asserts, and its export still animates without kernel or network."""

from pathlib import Path

import nbformat
import papermill
import pytest
from nbconvert import HTMLExporter

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
QUICK = {"00_start_here": {"steps": 120, "tuning_steps": 20, "seeds": 2}}


def names(paths):
    return [p.stem for p in paths]


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """Run each notebook once, with small numbers, as papermill does it: nobody sits before the kernel."""
    done: dict[str, Path] = {}

    def run(path: Path) -> Path:
        if path.stem not in done:
            out = tmp_path_factory.mktemp("notebooks") / path.name
            papermill.execute_notebook(
                path, out, QUICK[path.stem], kernel_name="python3", progress_bar=False, execution_timeout=240
            )
            done[path.stem] = out
        return done[path.stem]

    return run


def exported(path: Path) -> Path:
    """The notebook as an HTML page that asks no other machine for anything."""
    exporter = HTMLExporter(mathjax_url="", require_js_url="")
    page = path.with_suffix(".html")
    page.write_text(exporter.from_filename(str(path))[0], encoding="utf-8")
    return page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
def test_declares_its_parameters_and_keeps_no_outputs(path):
    known = papermill.inspect_notebook(path)
    assert set(QUICK[path.stem]) <= set(known), "the parameters cell must hold what the test sets"
    notebook = nbformat.read(path, as_version=4)
    assert not any(c.get("outputs") or c.get("execution_count") for c in notebook.cells if c.cell_type == "code")
    sections = [c for c in notebook.cells if c.cell_type == "markdown" and c.source.startswith("## ")]
    asserts = [c for c in notebook.cells if c.cell_type == "code" and "assert" in c.source]
    assert len(asserts) >= len(sections) - 1, "one assert for each section that shows something"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
def test_runs_by_papermill_and_shows_its_pictures(path, executed):
    notebook = nbformat.read(executed(path), as_version=4)
    pages = [
        o["data"]["text/html"] for c in notebook.cells for o in c.get("outputs", ()) if "text/html" in o.get("data", {})
    ]
    assert sum('id="stage-' in page for page in pages) == 3, "three stages"
    assert sum('id="replay-' in page for page in pages) == 1, "the run, to be scrubbed through"
    assert sum("drawCells();" in page for page in pages) == 1, "the drawing module, in the first of them"
    assert any("<svg" in page and "held out" in page for page in pages), "the loss curve"
    assert any("gradual unfreezing" in page for page in pages), "the comparison"
    assert not any(
        "application/vnd.jupyter.widget-view+json" in o.get("data", {})
        for c in notebook.cells
        for o in c.get("outputs", ())
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
def test_export_animates_without_kernel_and_network(path, executed, offline_page):
    page = offline_page
    page.goto(exported(executed(path)).as_uri())
    page.locator("canvas").first.wait_for()
    host = page.evaluate_handle("[...document.querySelectorAll('[id^=stage-]')].find(e => e.__stage)")
    before = page.evaluate("e => e.__stage.state().name", host)
    slider = page.locator("input[type=range]").first
    slider.focus()
    slider.press("End")
    page.wait_for_function("([e, was]) => e.__stage.state().name !== was", arg=[host, before])
    assert page.evaluate("e => e.__stage.state().name", host) != before
