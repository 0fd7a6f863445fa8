"""Film reviews alone."""

from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.sentiment import word_polarity

REVIEWS = Preset(
    name="reviews",
    idea="Short film reviews; each is good or bad, and nearly all of its sentences agree.",
    rules="""
Document = Review-<p>
""",
    aliases=("film reviews",),
    labels={"word_polarity": word_polarity},
)
