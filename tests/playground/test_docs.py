"""What the documents say is what the code does."""

import importlib.util
import os
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_examples_of_the_corpora_are_what_the_generator_writes(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    spec = importlib.util.spec_from_file_location("corpora_of_the_docs", DOCS / "corpora.py")
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, spec.name, script)
    spec.loader.exec_module(script)
    written = (DOCS / "corpora.md").read_text(encoding="utf-8")
    lines = script.table().splitlines()
    assert len(lines) == 2 + 28
    for line in lines:
        assert line in written, "run: python docs/corpora.py"
        assert line.count("|") == 5
