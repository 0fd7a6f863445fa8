"""TinyWorld's passages with a question and its answer."""

from functools import partial

from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import open_preset
from playground.corpora.tinyworld.presets import questions

QUESTIONS = Source(
    name="questions",
    aliases=("reading",),
    idea=questions.QUESTIONS.idea,
    make=partial(open_preset, "questions"),
    tokens=300_000,
    rank=6,
)
