"""Many kinds of short documents, two fifths of them film reviews."""

from playground.corpora.tinyworld.preset import Preset

WORLD = Preset(
    name="world",
    idea="Six topics, film reviews, people and their lives, journeys, and words with two meanings.",
    rules="""
Document = 46: Review-<p> | 4: Story-<t> | 2.5: Scene-<t> | 12: Life | 5: Journey | 3: Meeting | 28: Riddle | 13: Habit
""",
)
