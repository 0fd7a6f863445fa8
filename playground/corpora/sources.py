"""Open a corpus: a generated one by its name, one or two files by their paths, or a data set of the hub by its name."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from playground import catalog
from playground.corpora.build import LIMIT
from playground.corpora.corpus import Corpus
from playground.corpora.readers.decode import Progress, decoded
from playground.corpora.readers.hub import read_hub
from playground.corpora.readers.labelled_table import read_table
from playground.corpora.readers.table import from_table
from playground.corpora.readers.text import read_text_file
from playground.corpora.readers.translations import read_translations
from playground.corpora.readers.treebank import CELLS, read_treebank
from playground.errors import UserError
from playground.knob import Knob, knobs, spelt, turn, written


@dataclass(frozen=True)
class Source:
    """A corpus that can be generated: `make(seed, tokens)`, or `make(seed, tokens, settings)` where it has knobs.

    `settings` are the knobs with their defaults; "parallel(shared=0.5)" names the corpus with a knob changed.
    """

    name: str
    idea: str
    make: Callable[..., Corpus]
    settings: Any = None
    aliases: tuple[str, ...] = ()
    tokens: int = 500_000

    @property
    def order(self) -> tuple[bool]:
        """Its place in lists: the default corpus first."""
        return (self.name != "world",)


class Reading(TypedDict, total=False):
    """Options of reading a file: its encoding, where it is not UTF-8, and a function to which progress is reported."""

    encoding: str | None
    progress: Progress | None


FEWEST, MOST = 1_000, 20_000_000
"""Limits of the number of tokens of a corpus."""

HUB = "hub:"
"""Prefix of the name of a data set in the Hugging Face layout, or of its folder."""

TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json")
TREEBANKS = (".conllu", ".conll")
TEXTS = (".txt", ".md", ".rst", ".text")


def open_corpus(
    name_or_path: str | Path, *, seed: int = 0, tokens: int | None = None, **reading: Unpack[Reading]
) -> Corpus:
    """A corpus by its name or by the path of a file; `tokens` limits either.

    Knobs of a corpus are given in brackets after its name: "bilingual(shared=0.5, second=0.3)". A file is a table, a
    treebank or plain text by its suffix; "first.en+second.fr" are two files that are parallel line by line; "hub:NAME"
    is a data set of the Hugging Face hub.
    """
    if tokens is not None and not FEWEST <= tokens <= MOST:
        raise UserError(f"tokens is {tokens}; it must lie between {FEWEST} and {MOST}.")
    name, limit = str(name_or_path), tokens or LIMIT
    if name.startswith(HUB):
        return from_table(read_hub(name.removeprefix(HUB)), limit=limit)
    bare, changed = spelt(name)
    source = _named(bare)
    if source:
        settings = _settings(source, changed)
        if settings is None:
            return source.make(seed, tokens or source.tokens)
        return replace(source.make(seed, tokens or source.tokens, settings), name=_full_name(source, settings))
    if os.path.exists(name):
        return _open_file(Path(name), limit, reading)
    pair = two_files(name)
    if pair:
        return read_translations(*pair, limit=limit, **reading)
    known = ", ".join(sources())
    raise UserError(f"There is no corpus and no file named {name!r}; the corpora are: {known}.")


def _settings(source: Source, changed: Mapping[str, Any]) -> Any:
    """The settings of a source with some knobs changed; None where it has no knobs."""
    if source.settings is not None:
        return turn(source.settings, changed)
    if changed:
        raise UserError(f"The corpus {source.name} has no knobs, so {', '.join(changed)} cannot be set.")
    return None


def _full_name(source: Source, settings: Any) -> str:
    changed = written(settings, ", ", source.settings)
    return f"{source.name}({changed})" if changed else source.name


def source_knobs(name: str) -> tuple[Knob, ...]:
    """The knobs of a generated corpus; none where it has none or the name is not that of a generated corpus."""
    source = _named(name)
    return () if source is None or source.settings is None else knobs(source.settings)


def name_with_knobs(name: str, changed: Mapping[str, Any]) -> str:
    """The name under which `open_corpus` opens a corpus with some knobs changed: "bilingual(shared=0.5)"."""
    source = _named(name)
    return name if source is None or source.settings is None else _full_name(source, turn(source.settings, changed))


def read_name(name: str) -> tuple[str, dict[str, Any]]:
    """The name of a generated corpus and the checked values of the knobs in "name(knob=value)"."""
    bare, changed = spelt(name)
    source = find_source(bare)
    settings = _settings(source, changed)
    return source.name, {knob: getattr(settings, knob) for knob in changed}


def sources() -> dict[str, Source]:
    """Every corpus that can be generated, by name."""
    return catalog.find("playground.corpora.catalog", Source)


def find_source(name: str) -> Source:
    """A corpus that can be generated, by its name."""
    return catalog.choose("playground.corpora.catalog", Source, name, "corpus")


def _open_file(path: Path, limit: int, reading: Reading) -> Corpus:
    kind = path.suffix.lower()
    if kind not in (*TABLES, *TREEBANKS, *TEXTS):
        kind = _look(path, reading.get("encoding"))
    if kind in TABLES:
        return from_table(read_table(path, **reading), limit=limit)
    return (read_treebank if kind in TREEBANKS else read_text_file)(path, limit=limit, **reading)


def _look(path: Path, encoding: str | None) -> str:
    """The suffix that fits a file without a known one, by the first line that is no comment; plain text by default."""
    lines = next(decoded(path, encoding), "").splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return ".conllu" if first.count("\t") == CELLS - 1 and first[0].isdigit() else ".txt"


def two_files(name: str) -> tuple[Path, Path] | None:
    """The paths on both sides of a plus; a second one without a folder may lie beside the first."""
    parts = name.split("+")
    for k in range(1, len(parts)):
        first, second = Path("+".join(parts[:k])), Path("+".join(parts[k:]))
        for other in (second, first.parent / second):
            if os.path.isfile(first) and os.path.isfile(other):
                return first, other
    return None


def _named(name: str) -> Source | None:
    """The source of this name; a name with a slash or a dot is a path."""
    if set(name) & set("/\\."):
        return None
    try:
        return find_source(name)
    except UserError:
        return None
