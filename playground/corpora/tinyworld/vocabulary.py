"""One vocabulary for all generated corpora, so that a model of one can be tried on the tasks of another."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain

from playground import catalog
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.world import find_preset, grammar
from playground.tokenizing.tokenizer import Tokenizer, of_words

PREFIXES = (
    "sst2 mnli stsb cola sentence sentence1 sentence2 hypothesis premise : sentiment entailment similarity negative "
    "positive acceptable unacceptable contradiction neutral"
)
"""Words of tasks that are put as text (T5, arXiv:1910.10683, appendix D)."""

SCORES = tuple(f"{tenth / 10:.1f}" for tenth in range(0, 51, 2))
"""Scores of such tasks, in steps of 0.2 (T5, sec. 2.4)."""


@cache
def shared_vocabulary() -> Tokenizer:
    """The words of all presets that have none of their own apart, those of `world` first; no two words are one."""
    presets = (p for p in catalog.find("playground.corpora.tinyworld.presets", Preset).values() if not p.apart)
    names = ("world", *(preset.name for preset in presets))
    words = dict.fromkeys(chain(*map(_words, names), PREFIXES.split(), SCORES))
    return of_words(words, lower=True)


@cache
def vocabulary(preset: str) -> Tokenizer:
    """The shared vocabulary, and behind it what only this preset writes."""
    shared = shared_vocabulary()
    if not find_preset(preset).apart:
        return shared
    return replace(shared, words=tuple(dict.fromkeys((*shared.words, *_words(preset)))))


@cache
def own_words(preset: str) -> frozenset[str]:
    """Every word that the grammar of a preset can write."""
    return frozenset(_words(preset))


def _words(preset: str) -> Iterator[str]:
    return chain((form.word.lower() for form in grammar(preset).forms if form.pos), ("an",))
