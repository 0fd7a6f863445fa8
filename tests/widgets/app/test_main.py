"""What the app reads before its first page."""

import subprocess
import sys

import pytest

ONLY_FOR_FILES = {"nbformat", "jsonschema", "papermill", "pandas", "pyarrow", "distributed"}
"""Libraries that a file to read or to write needs, and no page; `nbformat` alone takes two seconds."""


@pytest.mark.slow
def test_no_page_waits_for_a_library_that_only_a_file_needs():
    code = "import sys, widgets.app.main; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "widgets.app.main" in modules
    assert not ONLY_FOR_FILES & set(modules)


@pytest.mark.slow
def test_the_first_visit_finds_every_library_loaded():
    code = (
        "import sys; from widgets.app.main import Store, _open, make_ready\n"
        "make_ready(); loaded = {*sys.modules}; store = Store(); _open(store, '?view=stage'); store.close()\n"
        "print(len(loaded), *({*sys.modules} - loaded))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert int(said[0]) > 1_000 and not said[1:]
