"""Everyday talk: short sentences of the most frequent words, so that the words of a typed sentence are mostly known."""

from playground.corpora.tinyworld.grammar import Ways
from playground.corpora.tinyworld.inflection import past, plural
from playground.corpora.tinyworld.ways import even, forms, zipf

MOODS = "happy glad tired hungry sad busy sorry sure fine excited proud afraid thirsty angry ill"
PEOPLE = "friend mother father sister brother teacher doctor neighbour boy girl baby son daughter uncle aunt boss"
PLACES = (
    "school park city store house station office restaurant beach river museum airport church library village mountain "
    "kitchen market hotel lake street"
)
THINGS = (
    "book car phone ball cake computer bag key bike ticket present hat cup bottle newspaper game chair table bed apple "
    "sandwich pizza coat shoe box lamp"
)
QUALITIES = "old big small little nice red blue green white black long young"
VALUES = "expensive cheap easy hard important different clean ready"
WEATHER = "hot sunny rainy cloudy windy dark"
DOINGS = "buy find make see take use bring need open close lose clean wash sell"
NUMBERS = "three four five six seven eight nine ten"
"""No word here is one of the grammar's homographs, polar words or things that a person is known to like."""

RULES = """
Document = 50: Review-<p> | 4: Story-<t> | 2.5: Scene-<t> | 12: Life | 5: Journey | 3: Meeting | 28: Riddle | 13: Habit
  | 14: Talk
Talk = Small Small Small Smalls
Smalls = Small | Small Small | Small Small Small
Small = 6: Mooded | 4: Went | 5: Got | 3: Likes | 3: Lies | 3: Weathered | 3: Planned | 3: Asked
  | 2: Greeted | 2: Valued
Mooded = 2: NP[i] VP[am] AP[Mood] With . | 2: NP[Some-of-us] VP[are] AP[Mood] With . | 1: NP[Somebody] VP[is] AP[Mood] .
  | 1: NP[Somebody] VP[is] AP[very Mood] When . | 1: NP[i] VP[am] AP[not Mood] When .
With = 2: | 2: When | 2: VP:action[to Join] PP[with Whom] | 2: VP:action[to Join] PP[with Whom] When
Went = 2: NP:agent[Somebody] VP:action[went] PP:goal[to the Venue] .
  | 2: NP:agent[i] VP:action[went] PP:goal[to the Venue] Then .
  | 1: NP:agent[Some-of-us] VP:action[walked] PP:goal[to the Venue] PP[with Whom] .
  | 1: NP:agent[Somebody] VP:action[came home] Then .
Got = 2: NP:agent[Somebody] VP:action[Did-daily] NP:patient[Something] .
  | 2: NP:agent[i] VP:action[Did-daily] NP:patient[Something] Then .
  | 1: NP:agent[Somebody] VP:action[Did-daily] NP:patient[Something] PP:place[at the Venue] .
Something = 3: a Article | 2: the Article | 2: a Look Article | 2: Owner Article | 1: Number Articles | 2: some Food
Likes = NP:agent[Kin] VP:action[likes] NP:patient[Food] . | NP:agent[i] VP:action[like] NP:patient[Food] .
  | NP:agent[Some-of-us] VP:action[love] NP:patient[the Pet] . | NP:agent[i] VP:action[love] NP:patient[you] .
  | NP[i] VP[have] NP[a Look Pet] . | NP[Somebody] VP[has] NP[a Pet] and NP[a Pet] .
Lies = NP:agent[the Pet] VP:action[sat] PP:place[on the Spot] . | NP[the Pet] VP[is] PP:place[under the Spot] .
  | NP[the Article] VP[is] PP:place[on the Spot] .
Weathered = NP[it] VP[is] AP[Weather] When . | NP[the Season] VP[was] AP[Weather] . | NP[it] VP[was] AP[very Weather] .
Planned = NP:agent[i] VP:action[will Do-daily] NP:patient[Something] Soon .
  | NP:agent[Some-of-us] VP:action[can Do-daily] NP:patient[Something] .
  | NP:agent[Somebody] VP:action[will go] PP:goal[to the Venue] Soon .
  | NP:agent[i] VP:action[want to Do-daily] NP:patient[Something] .
Asked = 3: how VP[are] NP[you] When ? | 2: how VP[are] NP[you] ? | 1: where VP[is] NP[Owner Article] ?
  | 1: where VP[is] NP[the Venue] ? | 1: NP[what] VP[is] NP[Owner name] ? | 1: NP[Owner name] VP[is] NP[Anybody] .
Greeted = hello , NP[Owner Relative] . | NP[good Daytime] . | NP:agent[i] VP:action[thank] NP:patient[you] .
Valued = NP[the Article] VP[is] AP[Value] . | NP[this Article] VP[is] AP[too Value] .
  | NP[Owner Article] VP[was] AP[Value] .
Somebody = 8: Kin | 1: Anybody
Kin = 2: he | 2: she | 3: Owner Relative | 1: the Relative
Some-of-us = we | you | they | the Relatives
Whom = 2: you | him | her | us | them | me | 2: Owner Relative
When = 3: NP:time[today] | NP:time[tonight] | now | NP:time[this Daypart]
Then = 2: NP:time[yesterday] | NP:time[today] | PP:time[on Day]
Soon = 2: NP:time[tomorrow] | NP:time[tonight] | soon | PP:time[on Day] | NP:time[next Daypart]
"""


def words() -> Ways:
    """The classes of everyday words; the most frequent of each come first."""
    return {
        "Mood": zipf(forms(MOODS, "ADJ")),
        "Join": zipf(forms("join go sing work eat live stay travel swim sit come", "VERB")),
        "Do-daily": zipf(forms(DOINGS, "VERB")),
        "Did-daily": zipf(forms(DOINGS, "VERB", tense="past", inflect=past)),
        "Relative": zipf(forms(PEOPLE, "NOUN", "sg")),
        "Relatives": zipf(forms(PEOPLE, "NOUN", "pl", inflect=plural)),
        "Venue": zipf(forms(PLACES, "NOUN", "sg")),
        "Article": zipf(forms(THINGS, "NOUN", "sg")),
        "Articles": zipf(forms(THINGS, "NOUN", "pl", inflect=plural)),
        "Pet": zipf(forms("cat dog bird horse fish cow mouse rabbit", "NOUN", "sg")),
        "Food": zipf(forms("bread milk water soup meat fruit sugar chicken juice butter", "NOUN", "sg")),
        "Look": zipf(forms(QUALITIES, "ADJ")),
        "Number": even(forms(NUMBERS, "NUM")),
        "Value": zipf(forms(VALUES, "ADJ")),
        "Weather": zipf(forms(WEATHER, "ADJ")),
        "Season": zipf(forms("weather summer winter morning evening night", "NOUN", "sg")),
        "Spot": zipf(forms("mat table chair bed floor sofa grass tree box wall", "NOUN", "sg")),
        "Daypart": zipf(forms("morning evening week weekend year afternoon", "NOUN", "sg")),
        "Daytime": even(forms("morning evening afternoon night", "NOUN", "sg")),
        "Day": even(forms("monday tuesday wednesday thursday friday saturday sunday", "NOUN", "sg")),
        "Owner": zipf(forms("my your his our their her", "DET")),
    }
