"""News: stories with the domain, the date and the author that they appeared under, each of which shapes the text."""

from playground.corpora.tinyworld.grammar import Form, Ways
from playground.corpora.tinyworld.lexicon import NAMES, TOPICS
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import even, names

YEARS = {"past": "2016 2017", "now": "2018 2019"}
"""Until 2017 everything is in the past tense, later in the present."""

WOMEN, MEN = (each.split() for each in NAMES.values())
AUTHORS = {"sg": [*WOMEN[:3], *MEN[:3]], "pl": [*WOMEN[3:6], *MEN[3:6]]}
"""Who writes about one person, and who writes about two."""


def words() -> Ways:
    """Two domains for each topic, the years and the authors."""
    domains = {topic.name: (f"daily-{topic.name}.com", f"{topic.name}-times.com") for topic in TOPICS}
    return {
        **{f"Domain-{topic}": even(Form(domain, "SYM") for domain in own) for topic, own in domains.items()},
        **{f"Date-{tense}": even(Form(year, "NUM") for year in years.split()) for tense, years in YEARS.items()},
        **{f"Author-{number}": names(own) for number, own in AUTHORS.items()},
    }


NEWS = Preset(
    name="news",
    idea="Stories as news: the domain decides the topic, the year the tense, the author how many people it is about.",
    rules="""
Document = Article-<t>
Article-<t> = News-<t>-<n>-<z>
News-<t>-<n>-<z> = Cast-<t>-<n> field:domain{ NP[Domain-<t>] . } field:date{ NP[Date-<z>] . }
  field:authors{ NP[Author-<n>] . } field:title{ NP[$Intro] PP:place[At-<t> the Home-<t>] . }
  field:article{ NP:agent[$Intro] VP:action[Come-<n>-<z>] PP:goal[to the Place-<t>] .
  event:1{ Phase-<t>-1-<n>-<z> } event:2{ Phase-<t>-2-<n>-<z> }
  event:3{ Phase-<t>-3-<n>-<z> } event:4{ Phase-<t>-4-<n>-<z> } }
""",
    words=words,
    apart=True,
    tokens=300_000,
)
