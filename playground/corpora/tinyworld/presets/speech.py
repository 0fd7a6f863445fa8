"""Spoken sentences: with fillers, words said twice, slips that are taken back, and words left out."""

from playground.corpora.tinyworld.preset import Preset

SPEECH = Preset(
    name="speech",
    aliases=("disfluencies",),
    tokens=300_000,
    apart=True,
    idea="Sentences as people speak them: uh and um, repeated words, slips taken back, words left out; all are marked.",
    rules="""
Document = Talk-<t>
Talk-<t> = Utter-<t> Utter-<t> Utter-<t> Utter-<t>
Utter-<t> = 3: Who-<t> Did-<t> What-<t> . | 1: Slip-<t>
Slip-<t> = slip:filler{ Uh } Who-<t> Did-<t> What-<t> . | Who-<t> Did-<t> slip:filler{ Uh } What-<t> .
  | slip:repeat{ the } Who-<t> Did-<t> What-<t> . | Who-<t> Did-<t> slip:repeat{ the } What-<t> .
  | slip:repair{ the Person-<t>-sg no } Who-<t> Did-<t> What-<t> .
  | Who-<t> Did-<t> slip:repair{ the Spoken-<t> no } What-<t> .
  | NP:agent[slip:gap{ Person-<t>-sg }] Did-<t> What-<t> . | Who-<t> Did-<t> NP:patient[slip:gap{ Spoken-<t> }] .
Uh = uh | um
Who-<t> = NP:agent[the Person-<t>-sg]
Did-<t> = VP:action[Deed-<t>-<k>-sg-past]
What-<t> = NP:patient[the Spoken-<t>]
Spoken-<t> = Noun-<t>-<k>-sg
""",
)
