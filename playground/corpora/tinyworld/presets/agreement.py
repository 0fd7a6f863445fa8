"""Subjects and verbs with up to four nouns of the other number between them (arXiv:1611.01368, sec. 4)."""

from playground.corpora.tinyworld.preset import Preset

AGREEMENT = Preset(
    name="agreement",
    aliases=("attractors",),
    tokens=300_000,
    idea="Sentences whose verb must agree with a subject up to four misleading nouns away.",
    rules="""
Document = Field-<t>
Field-<t> = Row-<t> Row-<t> Row-<t> Row-<t> Remarks-<t>
Row-<t> = Row-<t>-<a>
Row-<t>-0 = 4: Topmost-<t>-<n> Does-<t>-<n>-0 | 1: Topmost-<t>-<n> Beside-<t>-<n> Does-<t>-<n>-0
  | 1: Topmost-<t>-<n> Beside-<t>-<n> Beside-<t>-<n> Does-<t>-<n>-0
  | 1: Topmost-<t>-<n> Beside-<t>-<n> Beside-<t>-<n> Beside-<t>-<n> Does-<t>-<n>-0
  | 1: Topmost-<t>-<n> Beside-<t>-<n> Beside-<t>-<n> Beside-<t>-<n> Beside-<t>-<n> Does-<t>-<n>-0
Row-<t>-1 = Topmost-<t>-<n> Beside-<t>-<m> Does-<t>-<n>-1
Row-<t>-2 = Topmost-<t>-<n> Beside-<t>-<m> Beside-<t>-<m> Does-<t>-<n>-2
Row-<t>-3 = Topmost-<t>-<n> Beside-<t>-<m> Beside-<t>-<m> Beside-<t>-<m> Does-<t>-<n>-3
Row-<t>-4 = Topmost-<t>-<n> Beside-<t>-<m> Beside-<t>-<m> Beside-<t>-<m> Beside-<t>-<m> Does-<t>-<n>-4
""",
)
