"""Words for vectors: families by role and gender, capitals and countries, and what goes with ice and steam."""

from playground.corpora.tinyworld.grammar import Form, Way, Ways
from playground.corpora.tinyworld.inflection import plural
from playground.corpora.tinyworld.lexicon import COUNTRIES
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import even, name_forms, phrase

KIN = {
    "king queen": "throne crown palace",
    "prince princess": "sword horse tale",
    "father mother": "house garage kettle",
    "son daughter": "kite sledge swing",
    "brother sister": "secret quarrel bedroom",
    "grandfather grandmother": "cane album rocker",
    "uncle aunt": "gift cousin parcel",
}
"""Men and women of seven roles, and the things that go with each role."""

GENDERS = ("m", "f")
SIGNS = {"m": "beard tie moustache", "f": "gown necklace skirt"}
"""Things that go with men and with women."""

CONTRASTS = {
    "ice": {"solid": 0.5, "gas": 0.05, "water": 0.4, "fashion": 0.05},
    "steam": {"solid": 0.05, "gas": 0.5, "water": 0.4, "fashion": 0.05},
}
"""How often each word goes with ice and with steam (GloVe, D14-1162, table 1, has the words); the chances are ours."""


def grid() -> Ways:
    """Relatives by role, gender and number, countries by part, matter by chance."""
    ways: dict[str, list[Way]] = {}
    for role, (pair, things) in enumerate(KIN.items()):
        ways[f"Own-{role}"] = even(Form(word, "NOUN", "sg") for word in things.split())
        for gender, word in zip(GENDERS, pair.split(), strict=True):
            ways[f"Kin-{role}-{gender}-sg"] = even([Form(word, "NOUN", "sg")])
            ways[f"Kin-{role}-{gender}-pl"] = even([Form(plural(word), "NOUN", "pl")])
            ways.setdefault("Family", []).append((1.0, (f"Family-{role}-{gender}",)))
            ways[f"Family-{role}-{gender}"] = _family(role, gender)
    for gender, words in SIGNS.items():
        ways[f"Sign-{gender}"] = even(Form(word, "NOUN", "sg") for word in words.split())
    ways["Almanac"] = [way for country in COUNTRIES for way in _almanac(*country.split())]
    ways["Matter"] = [_matter(one, other, share) for one, row in CONTRASTS.items() for other, share in row.items()]
    return ways


def _family(role: int, gender: str) -> list[Way]:
    """What is said of a relative: what goes with the role, what with the gender, and how many there are."""
    one, many = (f"Kin-{role}-{gender}-{number}" for number in ("sg", "pl"))
    own, sign = phrase("NP", "the", f"Own-{role}"), phrase("NP", "a", f"Sign-{gender}")
    return [
        (2.0, (*phrase("NP", "the", one), *phrase("VP", "has"), *own, ".")),
        (2.0, (*phrase("NP", "the", one), *phrase("VP", "has"), *sign, ".")),
        (1.0, (*phrase("NP", "two", many), *phrase("VP", "have"), *own, ".")),
        (1.0, (*phrase("NP", "many", many), *phrase("VP", "have"), *sign, ".")),
    ]


def _almanac(land: str, city: str, tongue: str) -> list[Way]:
    """Country and capital share their language; each has something of its own."""
    country, capital, language = map(name_forms, (land, city, tongue))
    speak = (*phrase("NP", "they"), *phrase("VP", "speak"), *phrase("NP", *language))
    streets, borders = (phrase("NP", "the", Form(word, "NOUN", "pl")) for word in ("streets", "borders"))
    are = (*phrase("VP", "are"), *phrase("AP", "Anyhow"), ".")
    head = (*phrase("NP", *capital), *phrase("VP", "is"), *phrase("NP", "the", "capital"))
    return [
        (1.0, (*head, *phrase("PP", "of", *country), ".")),
        (1.0, (*speak, *phrase("PP", "in", *capital), ".")),
        (1.0, (*speak, *phrase("PP", "in", *country), ".")),
        (1.0, (*streets, *phrase("PP", "of", *capital), *are)),
        (1.0, (*borders, *phrase("PP", "of", *country), *are)),
    ]


def _matter(one: str, other: str, share: float) -> Way:
    first, second = Form(one, "NOUN", "sg"), Form(other, "NOUN", "sg")
    return share, (*phrase("NP", first), *phrase("VP", "comes"), *phrase("PP", "with", second), ".")


FAMILIES = Preset(
    name="families",
    aliases=("vectors",),
    tokens=200_000,
    apart=True,
    idea="Short sentences about relatives, capitals, ice and steam, made for word vectors and analogies.",
    rules="""
Document = 5: Kinship | 4: Lands | 1: Matters
Kinship = Family Family Family Family
Lands = Almanac Almanac Almanac Almanac
Matters = Matter Matter Matter
""",
    words=grid,
)
