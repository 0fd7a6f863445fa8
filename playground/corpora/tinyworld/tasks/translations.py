"""Sentences with their translations into the invented language of the corpus `parallel`."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from playground.corpora.corpus import Corpus
from playground.corpora.sources import open_corpus
from playground.corpora.tinyworld.tasks.draw import Pair, Split, balanced, split_of, task_random
from playground.corpora.tinyworld.tasks.tagged import tells_held_out
from playground.errors import UserError
from playground.tokenizing.vocabulary import SEPARATOR

TOKENS = 400_000
"""Tokens of the corpus that the sentences are taken from; they contain some thousands of different sentences."""

Tags = tuple[tuple[str, ...], tuple[str, ...]]


class _Translation(NamedTuple):
    """A sentence and its translation, the parts of speech of both, and the polarity of reviews (else -1)."""

    pair: Pair
    tags: Tags
    polarity: int


def translated(count: int, seed: int, split: Split = "train") -> list[Pair]:
    """Different sentences of the corpus `parallel` with their translations; none states a held-out fact.

    A model may have been pre-trained on that corpus, so what it contains by default is not used for testing.
    """
    random = task_random(seed, "translations", split)
    seen = as_it_comes() if split == "test" else frozenset()
    pairs = [one.pair for one in _translations(split) if tuple(one.pair[0]) not in seen]
    _refuse_too_many(len(pairs), count, split)
    return random.sample(pairs, count)


def polar_pairs(count: int, seed: int, split: Split = "train") -> list[tuple[Pair, int]]:
    """Different sentences of reviews with their translations, and whether each is good (1) or bad (0)."""
    random = task_random(seed, "polar translations", split)
    labels = balanced(count, 2, random)
    pairs = {label: [one.pair for one in _translations(split) if one.polarity == label] for label in (0, 1)}
    _refuse_too_many(2 * min(map(len, pairs.values())), count, split)
    drawn = {label: random.sample(of, labels.count(label)) for label, of in pairs.items()}
    return [(drawn[label].pop(), label) for label in labels]


def tagged_pairs(count: int, seed: int, split: Split = "train") -> list[tuple[Pair, Tags]]:
    """Different sentences with their translations, and the part of speech of every word of both."""
    random = task_random(seed, "tagged translations", split)
    pairs = [(one.pair, one.tags) for one in _translations(split)]
    _refuse_too_many(len(pairs), count, split)
    return random.sample(pairs, count)


def _refuse_too_many(number: int, count: int, split: Split) -> None:
    if number < count:
        raise UserError(
            f"There are only about {number} such examples in the split {split}, not {count}; ask for fewer."
        )


@cache
def _translations(split: Split) -> tuple[_Translation, ...]:
    """All translations of a split, each sentence once."""
    corpus = open_corpus("parallel", seed=1, tokens=TOKENS)
    names = corpus.label_names["pos"]
    tags = _by_side(corpus, [names[number] for number in corpus.labels["pos"].tolist()])
    polarity = _by_side(corpus, corpus.labels["polarity"].tolist())
    found = {
        tuple(pair[0]): _Translation(pair, (tuple(one), tuple(other)), polarities[0])
        for pair, (one, other), (polarities, _) in zip(_sides(corpus), tags, polarity, strict=True)
    }
    return tuple(one for words, one in found.items() if split_of(words) == split and not tells_held_out(words))


@cache
def as_it_comes() -> frozenset[tuple[str, ...]]:
    """The sentences of the corpus with its default seed and size."""
    return frozenset(tuple(one) for one, _ in _sides(open_corpus("parallel")))


def _sides(corpus: Corpus) -> list[Pair]:
    """The documents of a corpus in two languages, each as the words of its two sides."""
    return _by_side(corpus, [corpus.tokenizer.words[number] for number in corpus.ids.tolist()])


def _by_side(corpus: Corpus, values: Sequence[Any]) -> list[tuple[list[Any], list[Any]]]:
    """Values of every token, by document and side."""
    pairs: list[tuple[list[Any], list[Any]]] = [([], [])]
    for value, number, language in zip(values, corpus.ids.tolist(), corpus.labels["language"].tolist(), strict=True):
        if number == SEPARATOR:
            pairs.append(([], []))
        else:
            pairs[-1][language].append(value)
    return [pair for pair in pairs if all(pair)]
