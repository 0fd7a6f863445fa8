"""Stories with two endings of which one is right (story cloze, arXiv:1604.01696)."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.lexicon import TOPICS
from playground.corpora.tinyworld.tasks.draw import Split, different, task_random, write_words

Writer = Callable[[list[str]], list[str]]
"""Continues a text: a language model that writes wrong but plausible endings (SWAG, arXiv:1808.05326, sec. 3)."""


@dataclass(frozen=True)
class Unfinished:
    """A story without its last sentence, two endings, and which of them (0 or 1) is right."""

    words: list[str]
    endings: tuple[list[str], list[str]]
    right: int


def story_endings(count: int, seed: int, split: Split = "train", write: Writer | None = None) -> list[Unfinished]:
    """Different stories; the wrong ending is that of a story of another topic, or the text that `write` returns."""
    random = task_random(seed, "endings", split)
    return different(count, split, lambda: _story(random, write), lambda story: story.words)


def _story(random: Random, write: Writer | None) -> Unfinished:
    topic, other = random.sample([topic.name for topic in TOPICS], 2)
    beginning, right = _split_ending(write_words("stories", f"Story-{topic}", random))
    _, wrong = _split_ending(write_words("stories", f"Story-{other}", random))
    wrong = write(beginning) if write else wrong
    place = random.randrange(2)
    return Unfinished(beginning, (wrong, right) if place else (right, wrong), place)


def _split_ending(words: list[str]) -> tuple[list[str], list[str]]:
    """All but the last sentence, and the last one."""
    last = len(words) - 1 - words[-2::-1].index(".")
    return words[:last], words[last:]
