"""Sentences with their translations into the language of our own."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from playground.corpora.catalog.parallel import PARALLEL, open_parallel
from playground.corpora.corpus import Corpus
from playground.corpora.tinyworld.tasks.draw import Split, balanced, dice, split_of
from playground.corpora.tinyworld.tasks.tagged import tells_held_out
from playground.errors import Refusal
from playground.tokenizing.vocabulary import SEPARATOR

Pair = tuple[list[str], list[str]]

LOOK = 400_000
"""Tokens of the corpus that are looked through; they hold some thousands of different sentences."""


def translated(count: int, seed: int, split: Split = "train") -> list[Pair]:
    """Different sentences of the corpus `parallel` with their translations; none tells a held-out fact.

    A model may have been pre-trained on that corpus, so what it tells as it comes is not used for testing.
    """
    random, known = dice(seed, "translations", split), known_pairs(split)
    _enough(len(known), count, split)
    return random.sample(known, count)


def _enough(there: int, count: int, split: Split) -> None:
    """Refuse to give more examples than there are."""
    if there < count:
        raise Refusal(f"There are only about {there} such examples in the split {split}, not {count}; ask for fewer.")


@cache
def known_pairs(split: Split) -> tuple[Pair, ...]:
    """All pairs of a split."""
    read = as_it_comes() if split == "test" else frozenset()
    known = {tuple(one): (one, other) for one, other in sides(_looked_through())}
    fit = [words for words in known if split_of(words) == split and words not in read and not tells_held_out(words)]
    return tuple(known[words] for words in fit)


def polar_pairs(count: int, seed: int, split: Split = "train") -> list[tuple[Pair, int]]:
    """Different sentences of reviews with their translations, and whether each is good (1) or bad (0)."""
    random = dice(seed, "polar translations", split)
    labels = balanced(count, 2, random)
    known = {label: [pair for pair, said in _polar(split) if said == label] for label in (0, 1)}
    fewest = 2 * min(map(len, known.values()))
    _enough(fewest, count, split)
    drawn = {label: random.sample(pairs, labels.count(label)) for label, pairs in known.items()}
    return [(drawn[label].pop(), label) for label in labels]


Tags = tuple[tuple[str, ...], tuple[str, ...]]


def tagged_pairs(count: int, seed: int, split: Split = "train") -> list[tuple[Pair, Tags]]:
    """Different sentences with their translations, and the part of speech of every word of both."""
    random, known = dice(seed, "tagged translations", split), _tagged(split)
    _enough(len(known), count, split)
    return random.sample(known, count)


@cache
def _tagged(split: Split) -> tuple[tuple[Pair, Tags], ...]:
    corpus = _looked_through()
    names = corpus.label_names["pos"]
    said = _cut(corpus, [names[number] for number in corpus.labels["pos"].tolist()])
    both = zip(sides(corpus), said, strict=True)
    known = {tuple(pair[0]): (pair, (tuple(one), tuple(other))) for pair, (one, other) in both}
    return tuple(known[words] for words in known if split_of(words) == split and not tells_held_out(words))


@cache
def _polar(split: Split) -> tuple[tuple[Pair, int], ...]:
    """All sentences of reviews of a split; what the corpus says of a sentence's first word holds for all of it."""
    corpus = _looked_through()
    both = zip(sides(corpus), _cut(corpus, corpus.labels["polarity"].tolist()), strict=True)
    known = {tuple(pair[0]): (pair, said[0]) for pair, (said, _) in both if said[0] >= 0}
    return tuple(known[words] for words in known if split_of(words) == split)


@cache
def _looked_through() -> Corpus:
    return open_parallel(1, LOOK)


@cache
def as_it_comes() -> frozenset[tuple[str, ...]]:
    """The sentences of the corpus that every user gets."""
    return frozenset(tuple(one) for one, _ in sides(open_parallel(0, PARALLEL.tokens)))


def sides(corpus: Corpus) -> list[Pair]:
    """The documents of a corpus in two languages, each as the words of its two sides."""
    return _cut(corpus, [corpus.tokenizer.words[number] for number in corpus.ids.tolist()])


def _cut(corpus: Corpus, said: Sequence[Any]) -> list[tuple[list[Any], list[Any]]]:
    """What is said of every token, by document and side."""
    pairs: list[tuple[list[Any], list[Any]]] = [([], [])]
    for one, number, language in zip(said, corpus.ids.tolist(), corpus.labels["language"].tolist(), strict=True):
        if number == SEPARATOR:
            pairs.append(([], []))
        else:
            pairs[-1][language].append(one)
    return [pair for pair in pairs if all(pair)]
