"""A preset: a kind of corpus that the grammar can write."""

from collections.abc import Callable
from dataclasses import dataclass

from playground.corpora.tinyworld.grammar import Ways


@dataclass(frozen=True)
class Preset:
    """Its documents as rules, on top of those that all presets share, and its own words.

    `dealt` presets deal their kinds of documents like cards, each as often as its weight says: counts are exact.
    """

    name: str
    idea: str
    rules: str
    words: Callable[[], Ways] = dict
    dealt: bool = False
