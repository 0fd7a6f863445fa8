"""A preset: a kind of corpus that the grammar can write."""

from collections.abc import Callable
from dataclasses import dataclass

from playground.corpora.tinyworld.grammar import Ways


@dataclass(frozen=True)
class Preset:
    """The rules of its documents, which come on top of those that all presets share, and its own word classes.

    With `dealt` the kinds of documents are dealt in rounds, each as often as its weight says, so counts are exact. With
    `apart` its words, invented ones for example, are not in the shared vocabulary but are appended to it. The corpus
    has so many `tokens` unless another number is asked for.
    """

    name: str
    idea: str
    rules: str
    words: Callable[[], Ways] = dict
    dealt: bool = False
    apart: bool = False
    aliases: tuple[str, ...] = ()
    tokens: int = 500_000
