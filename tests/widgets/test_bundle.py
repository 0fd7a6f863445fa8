"""The JavaScript of the front end: modules that can be joined, and the tests of those parts that need no browser."""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from widgets import bundle
from widgets.bundle import EXPORT, IMPORT, joined
from widgets.design_tokens import properties

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "widgets").rglob("*.js"))
IMPORTED = {
    (path.parent / name).resolve() for path in MODULES for name in IMPORT.findall(path.read_text(encoding="utf-8"))
}
ENTRIES = [path for path in MODULES if path not in IMPORTED]
PYTHON = sorted(path for room in ("widgets", "playground") for path in (ROOT / room).rglob("*.py"))
SHEETS = sorted(path for room in ("widgets", "playground") for path in (ROOT / room).rglob("*.css"))
RULE = re.compile(r"(?<!% )\{\s*[\w-]+:[^{}]*;\s*\}")
"""A rule of a style sheet, but no step of an animation, of which there are as many as the data say."""
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
    sheet = path.read_text(encoding="utf-8")
    assert sheet.count("{") == sheet.count("}") > 0
    importers = [module for module in MODULES if f'/{path.name}" with' in module.read_text(encoding="utf-8")]
    code = {each.stem: each.read_text(encoding="utf-8") for each in path.parent.glob("*.py")}
    named = f'sheet(__file__, "{path.name}")' in "".join(code.values())
    assert importers or named or re.search(r'sheet\(__file__\)|with_suffix\("\.css"\)', code.get(path.stem, ""))
    assert all(json.dumps(bundle.READ[".css"](sheet)) in joined(module) for module in importers)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_style_sheet_is_written_in_a_module(path):
    assert not re.search(r"`\n[.:@][^`]*\{", path.read_text(encoding="utf-8"))


def has_a_style_sheet(code: str) -> bool:
    """Whether a string in Python, or an f-string with whatever it puts in, has two rules or more."""
    strings = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant | ast.JoinedStr)]
    parts = [getattr(node, "values", [node]) for node in strings]
    texts = ["".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in some) for some in parts]
    return any(len(RULE.findall(text)) > 1 for text in texts)


def test_no_style_sheet_is_written_in_python():
    assert has_a_style_sheet('f"""\np {{ color: {BLUE}; }}\nb {{ margin: 0; }}"""')
    assert [path for path in PYTHON if has_a_style_sheet(path.read_text(encoding="utf-8"))] == []


def test_a_variable_of_a_style_sheet_that_python_reads_is_defined():
    """One that is not leaves its part without a colour, and no browser says so."""
    imported = {name for path in MODULES for _, name in bundle.DATA.findall(path.read_text(encoding="utf-8"))}
    names = {Path(name).name for name in imported}
    sheets = "".join(path.read_text(encoding="utf-8") for path in SHEETS if path.name not in names)
    defined = set(re.findall(r"--([\w-]+):", sheets + properties(":host")))
    assert set(re.findall(r"var\(--([\w-]+)\)", sheets)) <= defined and {"blue", "vermilion"} <= defined


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
