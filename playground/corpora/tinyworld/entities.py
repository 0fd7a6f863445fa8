"""Who and what has a name in TinyWorld: people, cities, towns, countries and languages."""

from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.lexicon import COUNTRIES, CROSSED, NAMES, TOWNS

TYPES = ("person", "city", "town", "country", "language")

ENTITIES = {
    **{name: "person" for names in NAMES.values() for name in names.split()},
    **{country.split()[0]: "country" for country in COUNTRIES},
    **{country.split()[1]: "city" for country in COUNTRIES},
    **{country.split()[2]: "language" for country in COUNTRIES},
    **dict.fromkeys(CROSSED, "city"),
    **dict.fromkeys(TOWNS, "town"),
}
"""Every name and what kind of thing bears it."""


def name_forms(name: str) -> tuple[Form, ...]:
    """The words of a name; the first of them begins a mention."""
    return tuple(Form(word, "PROPN", entity=name, begins=k == 0) for k, word in enumerate(name.split()))
