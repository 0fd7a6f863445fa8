"""Which cell of a notebook holds the drawing module, so that the others of the same page need not."""

import sys
from typing import Any

from IPython import get_ipython

HOLDERS: list[str] = []
"""The cell whose markup holds the module, if any."""


def needs_module() -> bool:
    """Whether the markup of the cell that runs must hold the module, for no other cell of the page does.

    Always outside of a kernel, where cells look the same, and in Colab, where every cell is a page of its own.
    """
    cell = _request()
    if cell is None or (cell and "cellId" not in cell) or "google.colab" in sys.modules:
        return True
    if HOLDERS:
        return False
    HOLDERS.append(cell.get("cellId", ""))
    get_ipython().events.register("pre_run_cell", forget)  # type: ignore[union-attr]
    return True


def forget(_: Any = None) -> None:
    """Let the next cell hold the module if the cell that did is run again or was deleted."""
    cell = _request() or {}
    gone = {cell.get("cellId"), *cell.get("deletedCells", ())}
    HOLDERS[:] = [holder for holder in HOLDERS if holder not in gone]


def _request() -> dict[str, Any] | None:
    """What a front end says of the cell that runs: nothing if the notebook is run as a whole; None without a kernel."""
    kernel = getattr(get_ipython(), "kernel", None)
    return None if kernel is None else (kernel.get_parent("shell") or {}).get("metadata") or {}
