"""Sentences with a word of two meanings, by where its cue stands."""

from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.lexicon import SENSES as WORDS
from playground.corpora.tinyworld.tasks.draw import Split, dice, different, write
from playground.corpora.tinyworld.world import grammar
from playground.errors import Refusal

RULES = {
    "left near": "Left-near",
    "left far": "Left-far",
    "right near": "Right-near",
    "right far": "Right-far",
    "both": "Both",
    "xor": "Exclusive",
}
"""Where the cue can stand; with "xor" two words left and right say it only together."""


@dataclass(frozen=True)
class Sensed:
    """A sentence, the place of the word with two meanings in it, and which meaning it has."""

    words: list[str]
    place: int
    sense: str


def sense_sentences(cue: str, count: int, seed: int, split: Split = "train") -> list[Sensed]:
    """Different sentences of the corpus `senses` with the cue where `cue` says, one of `RULES`."""
    if cue not in RULES:
        raise Refusal(f"There is no place of a cue named {cue!r}; choose one of: {', '.join(RULES)}.")
    random = dice(seed, f"senses {cue}", split)
    return different(count, split, lambda: _sensed(RULES[cue], random), lambda one: one.words)


def _sensed(rule: str, random: Random) -> Sensed:
    word = random.choice(list(WORDS))
    meaning, _ = random.choice(WORDS[word])
    forms, numbers = grammar("senses").forms, write("senses", f"{rule}-{word}.{meaning}", random)
    seen = [form for form in map(forms.__getitem__, numbers) if form.pos]
    return Sensed(spell(forms, numbers), next(k for k, form in enumerate(seen) if form.sense), f"{word}.{meaning}")
