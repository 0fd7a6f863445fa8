"""Who does what to whom: the same verb in both directions, active and passive."""

from playground.corpora.tinyworld.preset import Preset

ROLES = Preset(
    name="roles",
    aliases=("passives",),
    tokens=300_000,
    idea="People who thank, push and warn each other in either direction, in active and passive sentences.",
    rules="""
Document = 2: Meeting | 1: Turns-<t>
Turns-<t> = Turn-<t> Turn-<t> Turn-<t>
Turn-<t> = 2: Active-<t> | 1: Passive-<t>
Active-<t> = NP:agent[the Person-<t>-sg] VP:action[Dealt] NP:patient[the Person-<t>-sg] .
Passive-<t> = NP:patient[the Person-<t>-sg] VP:action[was Dealt-with] PP:agent[by the Person-<t>-sg] .
""",
)
