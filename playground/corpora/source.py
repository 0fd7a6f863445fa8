"""Where a corpus comes from: a source of our own by its name, or a text file by its path."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playground import catalog
from playground.corpora.corpus import Corpus
from playground.corpora.text import read_text_file
from playground.refusal import Refusal


@dataclass(frozen=True)
class Source:
    """A corpus that the playground can make by itself: `make(seed, tokens)`."""

    name: str
    idea: str
    make: Callable[[int, int], Corpus]
    aliases: tuple[str, ...] = ()
    tokens: int = 500_000
    rank: int = 0


FEWEST, MOST = 1_000, 20_000_000
"""Limits of the tokens that a source is asked for."""


def open_corpus(name_or_path: str | Path, *, seed: int = 0, tokens: int | None = None) -> Corpus:
    """A corpus by its name, or a text file by its path; `tokens` limits either."""
    if tokens is not None and not FEWEST <= tokens <= MOST:
        raise Refusal(f"tokens is {tokens}; it must lie between {FEWEST} and {MOST}.")
    source = _named(str(name_or_path))
    if source:
        return source.make(seed, tokens or source.tokens)
    if not Path(name_or_path).exists():
        known = ", ".join(catalog.find("playground.corpora", Source))
        raise Refusal(f"There is no corpus and no file named {str(name_or_path)!r}; the corpora are: {known}.")
    return read_text_file(name_or_path) if tokens is None else read_text_file(name_or_path, limit=tokens)


def _named(name: str) -> Source | None:
    """The source of this name; something with a slash or a dot in it is a path."""
    if set(name) & set("/\\."):
        return None
    try:
        return catalog.choose("playground.corpora", Source, name)
    except Refusal:
        return None
