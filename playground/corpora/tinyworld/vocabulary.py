"""One vocabulary for all generated corpora, so that a model of one can be used on the tasks of another."""

from collections.abc import Iterator
from functools import cache
from itertools import chain

from playground import catalog
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.world import find_preset, grammar
from playground.tokenizing.tokenizer import Tokenizer, of_words
from playground.tokenizing.tokenizer_json import with_words

PREFIXES = (
    "sst2 mnli stsb cola sentence sentence1 sentence2 hypothesis premise : sentiment entailment similarity negative "
    "positive acceptable unacceptable contradiction neutral"
)
"""Words of tasks that are written as text (T5, arXiv:1910.10683, appendix D)."""

STEPS = 5
"""Words for each whole number: 0.2, 0.4 and so on."""

FIRST = ("world", "summaries")
"""Presets whose words come first, whatever the order of the catalogue, so that every word keeps its id."""


@cache
def shared_vocabulary() -> Tokenizer:
    """The words of all presets that share their words, each once."""
    presets = (p for p in catalog.find("playground.corpora.tinyworld.presets", Preset).values() if not p.apart)
    names = (*FIRST, *(preset.name for preset in presets))
    scores = (as_word(k / STEPS) for k in range(5 * STEPS + 1))
    words = dict.fromkeys(chain(*map(preset_words, names), PREFIXES.split(), scores))
    return of_words(words, lower=True)


@cache
def vocabulary(preset: str) -> Tokenizer:
    """The shared vocabulary, followed by the words of a preset that shares none of its own."""
    shared = shared_vocabulary()
    if not find_preset(preset).apart:
        return shared
    return with_words(shared, preset_words(preset))


def preset_words(preset: str) -> Iterator[str]:
    """Every word that the grammar of a preset can write."""
    return chain((form.word.lower() for form in grammar(preset).forms if form.pos), ("an",))


def as_word(number: float) -> str:
    """The nearest of 0.0, 0.2, 0.4 ... as a word, so 2.57 is "2.6" (T5, arXiv:1910.10683, sec. 2.4).

    The survey rounds the score up; T5 takes the nearest, and the two differ for 2.45.
    """
    return f"{round(number * STEPS) / STEPS:.1f}"


def answer(text: str) -> str:
    """A typed answer: a number as the word of the nearest score, any other text unchanged."""
    try:
        return as_word(float(text))
    except (ValueError, OverflowError):
        return text
