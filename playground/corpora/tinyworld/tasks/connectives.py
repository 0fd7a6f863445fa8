"""Pairs of clauses and the connective between them."""

from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.presets.arguments import ARGUMENTS, JOINED
from playground.corpora.tinyworld.tasks.draw import Split, different_by_class, write_words


@dataclass(frozen=True)
class Joined:
    """The two clauses without the connective, and which of `JOINED` it was."""

    first: list[str]
    second: list[str]
    connective: str


def connective_sentences(count: int, seed: int, split: Split = "train") -> tuple[list[Joined], list[int]]:
    """Different pairs of clauses and the number of their connective in `JOINED` (DisSent, arXiv:1710.04334, sec. 3)."""
    return different_by_class(
        "connectives", count, seed, split, len(JOINED), _joined, lambda joined: [*joined.first, *joined.second]
    )


def _joined(label: int, random: Random) -> Joined:
    connective = JOINED[label]
    while True:
        words = write_words(ARGUMENTS.name, f"Joined-{random.choice(('good', 'bad'))}", random)
        if connective in words:
            position = words.index(connective)
            return Joined(words[:position], words[position + 1 :], connective)
