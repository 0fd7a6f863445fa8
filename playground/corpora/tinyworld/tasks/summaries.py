"""Stories with a summary of one sentence (TL;DR, GPT-2, sec. 3.6)."""

from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.lexicon import TOPICS
from playground.corpora.tinyworld.presets.summaries import SUMMARIES
from playground.corpora.tinyworld.tasks.draw import Split, different, task_random, write_words


@dataclass(frozen=True)
class Digest:
    """A story up to "in short :", and the sentence that follows."""

    words: list[str]
    summary: list[str]


def digests(count: int, seed: int, split: Split = "train") -> list[Digest]:
    """Different stories with their summaries; the summary is the event that the story calls "best of all"."""
    random = task_random(seed, "summaries", split)
    return different(count, split, lambda: _digest(random), lambda one: one.words)


def _digest(random: Random) -> Digest:
    words = write_words(SUMMARIES.name, f"Digest-{random.choice(TOPICS).name}", random)
    cut = words.index(":", words.index("short")) + 1
    return Digest(words[:cut], words[cut:])
