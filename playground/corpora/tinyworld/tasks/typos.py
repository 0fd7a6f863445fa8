"""Typing errors in a word (as in arXiv:1711.02173, sec. 3)."""

from collections.abc import Callable
from random import Random

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def mistype(word: str, random: Random) -> tuple[str, str]:
    """A word of two letters or more with one error, and its kind, one of `ERRORS`; it is always another word."""
    while True:
        error = random.choice(list(ERRORS))
        wrong = ERRORS[error](word, random.randrange(len(word) - 1), random)
        if wrong != word:
            return wrong, error


def _neighbour(letter: str, random: Random) -> str:
    row = next((row for row in ROWS if letter in row), letter)
    position = row.find(letter)
    return random.choice([row[k] for k in (position - 1, position + 1) if 0 <= k < len(row)] or [letter])


ERRORS: dict[str, Callable[[str, int, Random], str]] = {
    "swapped": lambda word, k, _: word[:k] + word[k + 1] + word[k] + word[k + 2 :],
    "left out": lambda word, k, _: word[:k] + word[k + 1 :],
    "twice": lambda word, k, _: word[: k + 1] + word[k:],
    "beside": lambda word, k, random: word[:k] + _neighbour(word[k], random) + word[k + 1 :],
}
