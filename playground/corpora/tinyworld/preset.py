"""A preset: a kind of corpus that the grammar can write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from playground.corpora.tinyworld.grammar import Ways
from playground.corpora.tinyworld.lexicon import TOPICS
from playground.corpora.tinyworld.ways import STEEPNESS


@dataclass(frozen=True)
class Preset:
    """Its documents as rules, on top of those that all presets share, and its own words.

    `dealt` presets deal their kinds of documents like cards, each as often as its weight says: counts are exact. A
    preset that stands `apart` has words that no other needs, invented ones for example, behind the shared vocabulary.
    It is a corpus of so many `tokens` unless somebody asks for others; `rank` is its place in lists of corpora.
    """

    name: str
    idea: str
    rules: str
    words: Callable[[], Ways] = dict
    dealt: bool = False
    apart: bool = False
    aliases: tuple[str, ...] = ()
    tokens: int = 500_000
    rank: int = 0


@dataclass(frozen=True)
class Turned:
    """Knobs of any preset: its first so many topics, kinds of documents more or less often, how fast words get rarer.

    `shares` multiplies the weight of documents by the name of their kind, as {"Digest": 0.5}.
    """

    topics: int = len(TOPICS)
    shares: Mapping[str, float] = field(default_factory=dict)
    steepness: float = STEEPNESS
