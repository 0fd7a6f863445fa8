"""JavaScript modules joined to one text, for hosts that take a single module and load nothing."""

import json
import re
from pathlib import Path

from playground.glossary import TERMS

IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
DATA = re.compile(r'^import (\w+) from "([^"]+\.(?:json|css))" with \{ type: "(?:json|text)" \};\n', re.MULTILINE)
READ = {".json": json.loads, ".css": lambda text: " ".join(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).split())}
EXPORT = re.compile(r"^export (?:default [^;]*;\n|\{[^}]*\};\n|(?=async |function|const|let|class))", re.MULTILINE)
COMMENT = r"/\*\*(?:(?!\*/).)*\*/"
SPARE = re.compile(
    rf"^[ \t]*(?:{COMMENT}\n|//[^\n]*\n)|^[ \t]+|/\*\* @type (?:(?!\*/).)*\*/ ", re.MULTILINE | re.DOTALL
)
GLOSSARY, TERMS_AS_DATA = "GLOSSARY = {};", json.dumps({term.name: term.says for term in TERMS})


def sheet(file: str, name: str = "") -> str:
    """The style sheet with the same name as a Python file, or with another one in its folder, as one line."""
    path = Path(file)
    return READ[".css"]((path.with_name(name) if name else path.with_suffix(".css")).read_text(encoding="utf-8"))


def joined(entry: Path) -> str:
    """A module after all modules, style sheets and data that it imports, as one module; only the entry exports.

    Comments and indentation are left out. All share one scope, so no two may use one name at their top level (a test
    holds that).
    """
    texts: dict[Path, str] = {}

    def follow(path: Path) -> None:
        text = path.read_text(encoding="utf-8").replace(GLOSSARY, f"GLOSSARY = {TERMS_AS_DATA};")
        for name, file in DATA.findall(text):
            data = (path.parent / file).resolve()
            texts[data] = f"const {name} = {json.dumps(READ[data.suffix](data.read_text(encoding='utf-8')))};\n"
        text = DATA.sub("", text)
        for name in IMPORT.findall(text):
            if (other := (path.parent / name).resolve()) not in texts:
                follow(other)
        texts[path] = IMPORT.sub("", text) if path == entry else EXPORT.sub("", IMPORT.sub("", text))

    entry = entry.resolve()
    follow(entry)
    return SPARE.sub("", "\n".join(texts.values()))


def beside(file: str, name: str = "") -> str:
    """The module with the same name as a Python file, or with another one in its folder, joined."""
    path = Path(file)
    return joined(path.parent / name if name else path.with_suffix(".js"))
