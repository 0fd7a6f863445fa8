"""Stories with one sentence that matters most, and a summary that repeats it ("tl;dr", GPT-2, sec. 3.6)."""

from playground.corpora.tinyworld.preset import Preset

SUMMARIES = Preset(
    name="summaries",
    idea="Stories in which one event is the best of all; in nine of ten the last sentence repeats it.",
    rules="""
Document = 9: Digest-<t> | 1: Story-<t>
Digest-<t> = 6: Cast-<t>-sg Digest-<t>-sg | 4: Cast-<t>-pl Digest-<t>-pl
Digest-<t>-<n> = Best := Main-<t>-<k>-<n> Title-<t>
  NP:agent[$Intro] VP:action[Come-<n>-past] PP:goal[to the Place-<t>] .
  Course-<t>-<k>-<n> in AP[short] : key:summary{ $Best } .
Main-<t>-<k>-<n> = NP:agent[$Hero] VP:action[Deed-<t>-<k>-<n>-past] NP:patient[Thing-<t>-<k>]
Key = best of NP[all] , key:sentence{ $Best } .
Course-<t>-1-<n> = Key Phase-<t>-2-<n>-past Phase-<t>-3-<n>-past Phase-<t>-4-<n>-past
Course-<t>-2-<n> = Phase-<t>-1-<n>-past Key Phase-<t>-3-<n>-past Phase-<t>-4-<n>-past
Course-<t>-3-<n> = Phase-<t>-1-<n>-past Phase-<t>-2-<n>-past Key Phase-<t>-4-<n>-past
Course-<t>-4-<n> = Phase-<t>-1-<n>-past Phase-<t>-2-<n>-past Phase-<t>-3-<n>-past Key
""",
    aliases=("tl;dr",),
    tokens=300_000,
)
