"""Sentences with a typing error and the position of the wrong word (as in arXiv:1711.02173, sec. 3)."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.tasks.draw import Split, different, task_random, write_words

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@dataclass(frozen=True)
class Mistyped:
    """A sentence with one wrong word, its position, the right word, and the kind of error."""

    words: list[str]
    place: int
    right: str
    error: str


def mistyped_sentences(count: int, seed: int, split: Split = "train") -> list[Mistyped]:
    """Different sentences of reviews in which one word of four letters or more is mistyped."""
    random = task_random(seed, "typos", split)
    return different(count, split, lambda: _mistyped(random), lambda one: one.words)


def _mistyped(random: Random) -> Mistyped:
    words = write_words("reviews", f"Praise-{random.choice(('good', 'bad'))}", random)
    place = random.choice([k for k, word in enumerate(words) if len(word) >= 4])
    wrong, error = mistype(words[place], random)
    return Mistyped([*words[:place], wrong, *words[place + 1 :]], place, words[place], error)


def mistype(word: str, random: Random) -> tuple[str, str]:
    """A word of two letters or more with one error, and its kind, one of `ERRORS`; it is always another word."""
    while True:
        error = random.choice(list(ERRORS))
        wrong = ERRORS[error](word, random.randrange(len(word) - 1), random)
        if wrong != word:
            return wrong, error


def _neighbour(letter: str, random: Random) -> str:
    row = next((row for row in ROWS if letter in row), letter)
    place = row.find(letter)
    return random.choice([row[k] for k in (place - 1, place + 1) if 0 <= k < len(row)] or [letter])


ERRORS: dict[str, Callable[[str, int, Random], str]] = {
    "swapped": lambda word, k, _: word[:k] + word[k + 1] + word[k] + word[k + 2 :],
    "left out": lambda word, k, _: word[:k] + word[k + 1 :],
    "twice": lambda word, k, _: word[: k + 1] + word[k:],
    "beside": lambda word, k, random: word[:k] + _neighbour(word[k], random) + word[k + 1 :],
}
