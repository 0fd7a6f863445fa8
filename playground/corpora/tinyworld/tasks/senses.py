"""Sentences with an ambiguous word, by the position of its cue."""

from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.lexicon import SENSES as WORDS
from playground.corpora.tinyworld.tasks.draw import Split, different, task_random, write
from playground.errors import UserError

RULES = {
    "left near": "Left-near",
    "left far": "Left-far",
    "right near": "Right-near",
    "right far": "Right-far",
    "both": "Both",
    "xor": "Exclusive",
}
"""Positions of the cue and their rules; with "xor" only a word on the left and one on the right together are a cue."""


@dataclass(frozen=True)
class Sensed:
    """A sentence, the position of the ambiguous word in it, and its sense."""

    words: list[str]
    position: int
    sense: str


def sense_sentences(cue: str, count: int, seed: int, split: Split = "train") -> list[Sensed]:
    """Different sentences of the corpus `senses` with the cue at a position of `RULES`."""
    if cue not in RULES:
        raise UserError(f"There is no place of a cue named {cue!r}; choose one of: {', '.join(RULES)}.")
    random = task_random(seed, f"senses {cue}", split)
    return different(count, split, lambda: _sensed(RULES[cue], random), lambda one: one.words)


def _sensed(rule: str, random: Random) -> Sensed:
    word = random.choice(list(WORDS))
    meaning, _ = random.choice(WORDS[word])
    forms = [form for form in write("senses", f"{rule}-{word}.{meaning}", random) if form.pos]
    return Sensed(spell(forms), next(k for k, form in enumerate(forms) if form.sense), f"{word}.{meaning}")
