"""A preset: a kind of corpus that the grammar can write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from playground.corpora.tinyworld.grammar import Form, Ways


@dataclass(frozen=True)
class Preset:
    """The rules of its documents, which come on top of those that all presets share, and its own word classes.

    With `dealt` the kinds of documents are dealt in rounds, each as often as its weight says, so counts are exact. With
    `apart` its words, invented ones for example, are not in the shared vocabulary but are appended to it. The corpus
    has so many `tokens` unless another number is asked for, and `labels` of its words beside those of all presets.
    """

    name: str
    idea: str
    rules: str
    words: Callable[[], Ways] = dict
    dealt: bool = False
    apart: bool = False
    aliases: tuple[str, ...] = ()
    tokens: int = 500_000
    labels: Mapping[str, Callable[[Form], str]] = field(default_factory=dict)
