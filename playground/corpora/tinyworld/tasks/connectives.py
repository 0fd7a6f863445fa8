"""Two clauses and the word that should join them."""

from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.presets.arguments import ARGUMENTS, JOINED
from playground.corpora.tinyworld.tasks.draw import Split, balanced, dice, different, write_words


@dataclass(frozen=True)
class Joined:
    """The two clauses without the connective, and which of `JOINED` it was."""

    first: list[str]
    second: list[str]
    connective: str


def connective_sentences(count: int, seed: int, split: Split = "train") -> tuple[list[Joined], list[int]]:
    """Different pairs of clauses and the number of their connective in `JOINED` (DisSent, arXiv:1710.04334, sec. 3)."""
    random = dice(seed, "connectives", split)
    labels = balanced(count, len(JOINED), random)
    kinds = [
        different(
            labels.count(k),
            split,
            lambda word=word: _joined(word, random),
            _clauses,
            len(JOINED),
        )
        for k, word in enumerate(JOINED)
    ]
    return [kinds[label].pop() for label in labels], labels


def _clauses(joined: Joined) -> list[str]:
    return [*joined.first, *joined.second]


def _joined(connective: str, random: Random) -> Joined:
    while True:
        words = write_words(ARGUMENTS.name, f"Joined-{random.choice(('good', 'bad'))}", random)
        if connective in words:
            place = words.index(connective)
            return Joined(words[:place], words[place + 1 :], connective)
