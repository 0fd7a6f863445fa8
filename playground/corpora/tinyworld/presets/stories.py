"""Stories alone: a topic, a title, and four steps in an order of their own."""

from playground.corpora.tinyworld.preset import Preset

STORIES = Preset(
    name="stories",
    idea="Stories of six topics, each with a title and four events that always come in the same order.",
    rules="""
Document = Story-<t>
""",
    aliases=("pairs",),
    tokens=300_000,
)
