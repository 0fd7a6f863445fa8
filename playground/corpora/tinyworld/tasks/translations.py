"""Sentences with their translations into the language of our own."""

from functools import cache

from playground.corpora.corpus import Corpus
from playground.corpora.parallel import PARALLEL, make_parallel
from playground.corpora.tinyworld.tasks.draw import Split, dice, split_of
from playground.corpora.tinyworld.tasks.tagged import tells_held_out
from playground.refusal import Refusal
from playground.tokenizing.vocabulary import SEPARATOR

Pair = tuple[list[str], list[str]]

LOOK = 400_000
"""Tokens of the corpus that are looked through; they hold some thousands of different sentences."""


def translated(count: int, seed: int, split: Split = "train") -> list[Pair]:
    """Different sentences of the corpus `parallel` with their translations; none tells a held-out fact.

    A model may have been pre-trained on that corpus, so what it tells as it comes is not used for testing.
    """
    random, known = dice(seed, "translations", split), known_pairs(split)
    if len(known) < count:
        raise Refusal(
            f"There are only about {len(known)} such examples in the split {split}, not {count}; ask for fewer."
        )
    return random.sample(known, count)


@cache
def known_pairs(split: Split) -> tuple[Pair, ...]:
    """All pairs of a split."""
    read = as_it_comes() if split == "test" else frozenset()
    known = {tuple(one): (one, other) for one, other in sides(make_parallel(1, LOOK))}
    fit = [words for words in known if split_of(words) == split and words not in read and not tells_held_out(words)]
    return tuple(known[words] for words in fit)


@cache
def as_it_comes() -> frozenset[tuple[str, ...]]:
    """The sentences of the corpus that every user gets."""
    return frozenset(tuple(one) for one, _ in sides(make_parallel(0, PARALLEL.tokens)))


def sides(corpus: Corpus) -> list[Pair]:
    """The documents of a corpus in two languages, each as the words of its two sides."""
    words = [corpus.tokenizer.words[number] for number in corpus.ids.tolist()]
    pairs: list[Pair] = [([], [])]
    for word, number, language in zip(words, corpus.ids.tolist(), corpus.labels["language"].tolist(), strict=True):
        if number == SEPARATOR:
            pairs.append(([], []))
        else:
            pairs[-1][language].append(word)
    return [pair for pair in pairs if all(pair)]
