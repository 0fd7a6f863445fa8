"""A page holds the drawing module once: an exported notebook with several cells, and a page of the app."""

from types import SimpleNamespace

import pytest
from bokeh.document import Document
from bokeh.embed.bundle import extension_dirs

from playground.trace.rebuild import rebuild
from widgets import notebook, panel_compat
from widgets.animation import cells, pane
from widgets.animation.widget import ESM
from widgets.app import main

CELL = 40_000
"""Bytes of a stage in a notebook beside the module: the packed record, and its last frame as picture and table."""


class Kernel:
    """A kernel whose front end says of each request what `asks` holds, and the hooks of its shell."""

    def __init__(self):
        self.asks, self.hooks = {}, {}
        self.kernel = self.events = self

    def get_parent(self, channel):
        return {"metadata": self.asks}

    def register(self, event, act):
        self.hooks[event] = act

    def run(self, **asks):
        """Begin a cell."""
        self.asks = asks
        for act in self.hooks.values():
            act(None)


@pytest.fixture
def kernel(monkeypatch):
    made = Kernel()
    monkeypatch.setattr(cells, "get_ipython", lambda: made)
    monkeypatch.setattr(cells, "HOLDERS", [])
    return made


def stage_cell(headless, monkeypatch):
    """The markup of a cell that ends with `stage(...)`."""
    monkeypatch.setenv("PLAYGROUND_HEADLESS", headless)
    return notebook.Picture(rebuild("MLM"))._repr_mimebundle_()["text/html"]


def test_in_an_executed_notebook_the_first_cell_holds_the_module_and_the_others_their_data(kernel, monkeypatch):
    first, second, third = (stage_cell("1", monkeypatch) for _ in range(3))
    table = notebook.table()._repr_html_()
    assert ESM in first and "drawCells();" in first
    for later in (second, third):
        assert len(later.encode()) < CELL and "drawCells" not in later
        assert '(globalThis.__playground ??= []).push(["stage", "stage-' in later and "<figure>" in later
    assert ESM not in table and '["table", "table-' in table
    page = "".join((first, second, third, table))
    assert page.count("class Player {") == 1


def test_a_cell_that_is_run_again_holds_the_module_again(kernel, monkeypatch):
    kernel.run(cellId="a")
    assert ESM in stage_cell("1", monkeypatch) and ESM not in stage_cell("1", monkeypatch)
    kernel.run(cellId="b")
    assert ESM not in stage_cell("1", monkeypatch)
    kernel.run(cellId="a")
    assert ESM in stage_cell("1", monkeypatch)
    kernel.run(cellId="c", deletedCells=["a"])
    assert ESM in stage_cell("1", monkeypatch)


def test_what_is_kept_beside_live_widgets_has_the_module_once_too(kernel, monkeypatch):
    kernel.run(cellId="a")
    assert ESM in stage_cell("0", monkeypatch)
    for cell, markup in (("b", notebook.table()._repr_html_), ("c", lambda: stage_cell("0", monkeypatch))):
        kernel.run(cellId=cell)
        assert ESM not in markup()


def test_where_cells_cannot_be_told_apart_each_holds_the_module(kernel, monkeypatch):
    kernel.run(trusted=True)
    assert all(ESM in stage_cell("1", monkeypatch) for _ in range(2))
    monkeypatch.setattr(cells, "get_ipython", lambda: None)
    assert all(ESM in stage_cell("1", monkeypatch) for _ in range(2))


def visit():
    """The document of a page that a server serves."""
    made = Document()
    made._session_context = lambda: SimpleNamespace(server_context=object())  # type: ignore[assignment]
    return made


def test_a_served_page_loads_the_module_once_by_its_address():
    stage, table = (made._get_properties(visit()) for made in (pane.stage_pane(), pane.table_pane({})))
    alone = pane.stage_pane()._get_properties(Document())
    assert stage["bundle"] == "url" and stage["esm"] == table["esm"] and len(stage["esm"]) < 100
    address, _, _ = stage["esm"].partition("?")
    kept = extension_dirs["playground"] / address.removeprefix("./static/extensions/playground/")
    assert kept.read_text(encoding="utf-8") == ESM
    assert alone["esm"] == ESM and len(alone["bundle"]) == 64


def test_every_page_of_the_app_together_sends_few_letters_of_scripts():
    """All other modules are so small that they travel with their components."""
    assert callable(main.app)
    kinds = set(panel_compat.Component.__subclasses__())
    modules = {str(kind._esm) for kind in kinds}
    assert len(kinds) > 10 and ESM in modules and len(modules) < len(kinds)
    assert all(len(module) < panel_compat.LARGE for module in modules - {ESM})
    assert sum(map(len, modules - {ESM})) < 80_000
