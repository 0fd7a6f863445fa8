"""The JavaScript of the front end: modules that can be joined, and the tests of those parts that need no browser."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from widgets import bundle
from widgets.bundle import EXPORT, IMPORT, joined

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "widgets").rglob("*.js"))
IMPORTED = {
    (path.parent / name).resolve() for path in MODULES for name in IMPORT.findall(path.read_text(encoding="utf-8"))
}
ENTRIES = [path for path in MODULES if path not in IMPORTED]
SHEETS = sorted((ROOT / "widgets").rglob("*.css"))
DRAWING = ROOT / "widgets/animation/js"
TOP = re.compile(r"^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_and_what_it_imports_share_one_scope_without_a_clash(path, monkeypatch):
    monkeypatch.setattr(
        bundle, "SPARE", re.compile(r"(?!)")
    )  # with indentation, which tells what stands at the top level
    text = joined(path)
    names = TOP.findall(text)
    assert sorted(set(names)) == sorted(names)
    assert not IMPORT.search(text) and "\nimport " not in text
    assert len(EXPORT.findall(text)) == len(EXPORT.findall(path.read_text(encoding="utf-8")))


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node 20 or later, as `node` on the path")
@pytest.mark.parametrize("path", ENTRIES, ids=lambda path: path.name)
def test_what_is_joined_is_a_module_without_comments(path, tmp_path):
    module = tmp_path / "joined.mjs"
    module.write_text(joined(path), encoding="utf-8")
    done = subprocess.run(["node", "--check", module], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "/**" not in joined(path) and not re.search(r"^//", joined(path), re.MULTILINE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_imports_only_what_others_export_and_none_in_a_circle(path):
    def follow(module: Path, above: tuple[Path, ...]) -> None:
        assert module not in above, " -> ".join(p.name for p in (*above, module))
        for names, name in re.findall(r'^import \{([^}]*)\} from "([^"]+)";', module.read_text(encoding="utf-8"), re.M):
            other = (module.parent / name).resolve()
            said = other.read_text(encoding="utf-8")
            for overrides in filter(None, re.split(r"[\s,]+", names)):
                assert re.search(rf"^export (?:async )?(?:function\*?|const|let|class) {overrides}\b", said, re.M), (
                    overrides
                )
            if len(above) < 12:
                follow(other, (*above, module))

    follow(path, ())


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_a_style_sheet_is_read_and_its_braces_close(path):
    sheet, python = path.read_text(encoding="utf-8"), path.with_suffix(".py")
    assert sheet.count("{") == sheet.count("}") > 0
    importers = [module for module in MODULES if f'/{path.name}" with' in module.read_text(encoding="utf-8")]
    assert importers or "sheet(__file__)" in python.read_text(encoding="utf-8")
    assert all(json.dumps(bundle.READ[".css"](sheet)) in joined(module) for module in importers)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_style_sheet_is_written_in_a_module(path):
    assert not re.search(r"`\n[.:@][^`]*\{", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("sheet", "module", "constant"),
    [("interact/panels.css", "interact/panels.js", "BESIDE"), ("paint/host.css", "record.js", "FAMILY")],
)
def test_what_a_style_sheet_and_the_code_share_is_one_value(sheet, module, constant):
    code = (DRAWING / module).read_text(encoding="utf-8")
    value = re.search(rf"^export const {constant} =\s+['\"]?(.+?)['\"]?;$", code, re.MULTILINE)
    assert value and value.group(1) in " ".join((DRAWING / sheet).read_text(encoding="utf-8").split())


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node 20 or later, as `node` on the path")
def test_the_parts_that_need_no_browser():
    done = subprocess.run(["node", "--test", "tests/js/"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert int(re.findall(r"# pass (\d+)", done.stdout)[0]) >= 15
