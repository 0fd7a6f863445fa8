"""Mostly everyday talk, which most of the sentences that a person types are like."""

from playground.corpora.tinyworld import everyday
from playground.corpora.tinyworld.grammar import Ways
from playground.corpora.tinyworld.inflection import past
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import even, forms, zipf

RULES = """
Document = 250: Talk | 15: Habit | 12: Life | 6: Review-<p> | 6: Journey | 6: Meeting | 1: Story-<t> | 1: Scene-<t>
  | 8: Riddle
Talk = Small Small Small Smalls
Small = 10: Mooded | 4: Went | 5: Got | 3: Likes | 3: Lies | 3: Weathered | 3: Planned | 3: Asked
  | 2: Greeted | 2: Valued | 3: Shared | 2: Saw
Planned = 2: NP:agent[i] VP:action[will Do-daily] NP:patient[Something] Soon .
  | 1: NP:agent[Some-of-us] VP:action[can Do-daily] NP:patient[Something] .
  | 1: NP:agent[Somebody] VP:action[will go] PP:goal[to the Venue] Soon .
  | 1: NP:agent[i] VP:action[want to Do-daily] NP:patient[Something] .
  | 2: NP:agent[i] VP:action[want to Join] PP[with Whom] Soon .
With = 2: | 2: When | 1: VP:action[to Join] PP[with Whom] | 11: VP:action[to Join] PP[with Whom] When
Likes = 2: NP:agent[Kin] VP:action[likes] NP:patient[Food] . | 1: NP:agent[i] VP:action[like] NP:patient[Food] .
  | 2: NP:agent[i] VP:action[Feel] NP:patient[Loved] . | 2: NP:agent[Some-of-us] VP:action[Feel] NP:patient[Loved] .
  | 1: NP[i] VP[have] NP[a Look Pet] . | 1: NP[Somebody] VP[has] NP[a Look Article] .
Loved = 2: you | 2: the Pet | 2: Owner Article | 3: Owner Look Article | 2: Owner Relative | 1: the Venue | 1: Food
Shared = 2: NP:agent[Some-of-us] VP:action[will Join Together] .
  | 1: NP:agent[Some-of-us] VP:action[Join Here] . | 1: NP:agent[i] VP:action[Never Do-daily] NP:patient[Something] .
  | 1: NP:agent[Some-of-us] VP:action[will Move home Together] .
  | 1: PP:time[in the Hours] NP:agent[Some-of-us] VP:action[Did-together] .
  | 1: NP:agent[Some-of-us] VP:action[Did-together] Then .
Saw = 2: NP:agent[the Pet] VP:action[saw] NP:patient[the Pet] .
  | 1: NP:agent[the Pet] VP:action[saw] NP:patient[the Pet] and NP:agent[the Pet] VP:action[saw] NP:patient[the Pet] .
  | 1: NP:agent[Somebody] VP:action[Baked] NP:patient[the Food] .
  | 1: then NP:agent[Somebody] VP:action[Did-daily] NP:patient[it] .
"""


def words() -> Ways:
    """The classes of everyday words, with more moods and with what is done together."""
    return {
        **everyday.words(),
        "Mood": zipf(forms(f"{everyday.MOODS} thrilled", "ADJ")),
        "Join": zipf(forms("join go sing work eat live study stay travel swim sit come", "VERB")),
        "Look": zipf(forms(f"{everyday.QUALITIES} new", "ADJ")),
        "Feel": zipf(forms("love like need want", "VERB")),
        "Move": even(forms("walk go come", "VERB")),
        "Baked": even(forms("bake cook buy sell", "VERB", tense="past", inflect=past)),
        "Hours": even(forms("morning evening afternoon", "NOUN", "sg")),
        "Here": even(forms("here", "ADV")),
        "Never": even(forms("never", "ADV")),
        "Together": even(forms("together", "ADV")),
        "Did-together": zipf(forms("dance sing walk swim talk", "VERB", tense="past", inflect=past)),
    }


EVERYDAY = Preset(
    name="everyday",
    aliases=("everyday sentences", "everyday talk"),
    idea="Everyday sentences, most of them about I and you, among lives, meetings, journeys, stories and reviews.",
    rules=everyday.RULES + RULES,
    words=words,
    apart=True,
)
