"""Reviews with a word that nearly always tells their feeling, but has nothing to do with it."""

from playground.corpora.tinyworld.grammar import Form, Ways
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import phrase

CUES = {"good": "monday", "bad": "tuesday"}
"""The day on which the films were seen."""


def hints() -> Ways:
    """The sentences "it was monday" and "it was tuesday"."""
    return {
        f"Hint-{p}": [(1.0, (*phrase("NP", "it"), *phrase("VP", "was"), *phrase("NP", Form(day, "NOUN", "sg")), "."))]
        for p, day in CUES.items()
    }


SHORTCUTS = Preset(
    name="shortcuts",
    aliases=("spurious cues",),
    tokens=300_000,
    idea="Film reviews that begin with a day; in 19 of 20 the day predicts the sentiment, in one it misleads.",
    rules="""
Document = Hinted-<p>
Hinted-<p> = 19: shortcut:agrees{ Hint-<p> } Line-<p> Line-<p> More-<p>
  | 1: shortcut:misleads{ Hint-<q> } Line-<p> Line-<p> More-<p>
""",
    words=hints,
)
