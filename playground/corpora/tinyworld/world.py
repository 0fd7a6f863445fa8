"""The grammar of TinyWorld put together: the lexicon's words in the classes that the rules speak of."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import permutations
from random import Random

from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld import rules
from playground.corpora.tinyworld.grammar import Form, Grammar, Part, Remember, Way, Ways, build, read_rules
from playground.corpora.tinyworld.inflection import past, plural, with_s
from playground.seeds import derive

PRESETS = {"world": rules.WORLD, "reviews": rules.REVIEWS}

FACTS = 0
"""The seed of the facts: who was born where is the same in every corpus."""

STEEPNESS = 0.8
"""How fast words get rarer from the first of a list to the last (Zipf's law has 1)."""

_TOPICS = tuple(topic.name for topic in lex.TOPICS)
_PERSONS = tuple(name for names in lex.NAMES.values() for name in names.split())
_MEANINGS = tuple(f"{word}.{meaning}" for word, both in lex.SENSES.items() for meaning, _ in both)
_PRONOUN = {"f": "she", "m": "he"}
_CLOSED = {word: pos for pos, words in lex.CLOSED.items() for word in words.split()}
_NUMBER = {word: number for words, number in lex.NUMBER.items() for word in words.split()}

FEATURES = {
    "t": _TOPICS,
    "n": ("sg", "pl"),
    "p": ("bad", "good"),
    "k": ("1", "2", "3", "4"),
    "z": ("past", "now"),
    "a": ("0", "1", "2"),
    "w": _PERSONS,
    "s": _MEANINGS,
}
OTHER = {"sg": "pl", "pl": "sg", "good": "bad", "bad": "good"}


@cache
def grammar(preset: str) -> Grammar:
    """The whole grammar of a preset, ready to write."""
    written = read_rules(rules.RULES + PRESETS[preset], FEATURES, OTHER)
    return build({**written, **_classes()}, "Document", _closed)


def _closed(symbol: str) -> Form:
    """A small word as it stands in a rule, perhaps with its number of attractors: "is/1"."""
    word, _, attractors = symbol.partition("/")
    return Form(word, _CLOSED[word], number=_NUMBER.get(word, ""), attractors=attractors)


def _classes() -> Ways:
    """All classes of words that the rules speak of."""
    parts = (_reviews(), _people(), *map(_topic, lex.TOPICS), _stays(), _homographs(), _senses())
    return {name: ways for part in parts for name, ways in part.items()}


def _even(forms: Iterable[Form]) -> list[Way]:
    """Every word as likely as the next."""
    return [(1.0, (form,)) for form in forms]


def _zipf(forms: Iterable[Form]) -> list[Way]:
    """Earlier words more likely than later ones."""
    return [(1 / rank**STEEPNESS, (form,)) for rank, form in enumerate(forms, start=1)]


def _forms(words: str, pos: str, number: str = "") -> list[Form]:
    return [Form(word, pos, number) for word in words.split()]


def _reviews() -> Ways:
    """Feeling words are equally frequent, so that a few labelled sentences cannot show them all."""
    return {
        "Adjective-good": _even(_forms(lex.GOOD, "ADJ")),
        "Adjective-bad": _even(_forms(lex.BAD, "ADJ")),
        "Pair-good": _pairs(lex.GOOD),
        "Pair-bad": _pairs(lex.BAD),
        "Verb-good": _even(_forms(lex.LIKED, "VERB")),
        "Verb-bad": _even(_forms(lex.DISLIKED, "VERB")),
        "Aspect": _zipf(_forms(lex.ASPECTS, "NOUN", "sg")),
        "Aspects": _zipf(_forms(lex.ASPECTS_PLURAL, "NOUN", "pl")),
        "Film": _zipf(_forms(lex.FILM_WORDS, "NOUN", "sg")),
    }


def _pairs(adjectives: str) -> list[Way]:
    """Two different words of one feeling, joined by "and" (Hatzivassiloglou and McKeown 1997, P97-1023, sec. 2)."""
    return [(1.0, (one, "and", other)) for one, other in permutations(_forms(adjectives, "ADJ"), 2)]


def _topic(topic: lex.Topic) -> Ways:
    """The people, places, things and deeds of one topic."""
    t = topic.name
    ways: dict[str, Sequence[Way]] = {
        f"Title-{t}": [(1.0, tuple(_in_title(word, topic) for word in topic.title.split()))],
        f"Person-{t}-sg": _zipf(_forms(topic.people, "NOUN", "sg")),
        f"Person-{t}-pl": _zipf(_several(topic.people)),
        f"Place-{t}": _zipf(_forms(topic.places, "NOUN", "sg")),
        f"Quality-{t}": _zipf(_forms(topic.qualities, "ADJ")),
        f"Cast-{t}-sg": _cast_one(topic.people) + _cast_named(),
        f"Cast-{t}-pl": [(1.0, _cast_many(form)) for form in _several(topic.people)],
    }
    for k, phase in enumerate(topic.phases, start=1):
        ways |= {f"Noun-{t}-{k}-sg": _zipf(_forms(phase.things, "NOUN", "sg"))}
        ways |= {f"Noun-{t}-{k}-pl": _zipf(_several(phase.things))}
        ways |= _deeds(f"Deed-{t}-{k}", phase.verbs)
    return ways


def _in_title(word: str, topic: lex.Topic) -> Part:
    return Form(word, "NOUN", "sg") if word in topic.places.split() else word


def _several(nouns: str) -> list[Form]:
    return [Form(plural(noun), "NOUN", "pl") for noun in nouns.split()]


def _deeds(name: str, verbs: str) -> Ways:
    """Past forms show no number; present forms do."""
    return {
        f"{name}-sg-past": _zipf(Form(past(verb), "VERB") for verb in verbs.split()),
        f"{name}-pl-past": _zipf(Form(past(verb), "VERB") for verb in verbs.split()),
        f"{name}-sg-now": _zipf(Form(with_s(verb), "VERB", "sg") for verb in verbs.split()),
        f"{name}-pl-now": _zipf(Form(verb, "VERB", "pl") for verb in verbs.split()),
    }


def _pronouns(noun: str) -> list[str]:
    """He or she: known for some nouns, else either."""
    return [_PRONOUN[lex.GENDER[noun]]] if noun in lex.GENDER else ["she", "he"]


def _remember(intro: tuple[Part, ...], hero: tuple[Part, ...], pronoun: str) -> tuple[Part, ...]:
    return (Remember("Intro", intro), Remember("Hero", hero), Remember("Pronoun", (pronoun,)))


def _cast_one(people: str) -> list[Way]:
    """A story about one person: "a chef", then "the chef" or "she"."""
    return [
        (1 / len(_pronouns(form.word)), _remember(("a", form), ("the", form), pronoun))
        for form in _forms(people, "NOUN", "sg")
        for pronoun in _pronouns(form.word)
    ]


def _cast_many(form: Form) -> tuple[Part, ...]:
    """A story about several people: "two chefs", then "the chefs" or "they"."""
    return _remember(("two", form), ("the", form), "they")


def _cast_named() -> list[Way]:
    """A story about somebody with a name, a fifth as likely as one without."""
    names = [(name, _PRONOUN[g]) for g, names in lex.NAMES.items() for name in names.split()]
    forms = [(Form(name, "PROPN"), pronoun) for name, pronoun in names]
    return [(1 / len(forms), _remember((form,), (form,), pronoun)) for form, pronoun in forms]


def _stays() -> Ways:
    verbs = lex.STAYS.split()
    one = {f"Stay-sg-{a}": _even(Form(with_s(v), "VERB", "sg", attractors=a) for v in verbs) for a in "012"}
    many = {f"Stay-pl-{a}": _even(Form(v, "VERB", "pl", attractors=a) for v in verbs) for a in "012"}
    return {**one, **many, "Anyhow": _zipf(_forms(lex.STATES, "ADJ"))}


def _homographs() -> Ways:
    """Words that are nouns and verbs: "a play", "many plays", "she plays", "they play"."""
    words = lex.HOMOGRAPHS.split()
    return {
        "Namesake-sg": _even(Form(word, "NOUN", "sg") for word in words),
        "Namesake-pl": _even(Form(with_s(word), "NOUN", "pl") for word in words),
        "Practice-sg": _even(Form(with_s(word), "VERB", "sg") for word in words),
        "Practice-pl": _even(Form(word, "VERB", "pl") for word in words),
        "Practice": _even(Form(word, "VERB") for word in words),
    }


def _senses() -> Ways:
    """Words with two meanings, and the words that give each meaning away."""
    ways: dict[str, Sequence[Way]] = {}
    for word, both in lex.SENSES.items():
        for meaning, cues in both:
            sense = f"{word}.{meaning}"
            ways[f"Word-{sense}"] = _even([Form(word, "NOUN", "sg", sense=sense)])
            ways[f"Cue-{sense}"] = _even(_forms(cues, "NOUN", "sg"))
    return ways


def _people() -> Ways:
    """Named people and what is true of them; places with their names and languages."""
    lives = [(1 / rank**0.5, (f"Life-{name}",)) for rank, name in enumerate(_spread(), start=1)]
    capitals = [(1 / rank**STEEPNESS, way) for rank, way in enumerate(map(_capital, lex.COUNTRIES), start=1)]
    ways: dict[str, Sequence[Way]] = {
        "Life": lives,
        "Anybody": _even(Form(name, "PROPN") for name in _PERSONS),
        "Capital": capitals,
        "Crossed": [(1.0, tuple(_forms(name, "PROPN"))) for name in lex.CROSSED],
    }
    for name, facts in known_facts().items():
        ways |= {f"{kind}-{name}": _even([form]) for kind, form in facts.items()}
    return ways


def _spread() -> list[str]:
    """Everybody, women and men in turn, from the most to the least talked about."""
    women, men = (names.split() for names in lex.NAMES.values())
    return [name for pair in zip(women, men, strict=True) for name in pair]


def _capital(country: str) -> tuple[Part, ...]:
    land, city, _ = (Form(word, "PROPN") for word in country.split())
    return (city, "is", "the", "capital", "of", land, ".")


@cache
def known_facts() -> Mapping[str, Mapping[str, Form]]:
    """For every person: name, pronoun, birthplace, job, language and what they like."""
    random = Random(derive(FACTS, "facts"))
    cities = _dealt(random, [country.split()[1] for country in lex.COUNTRIES])
    tongues = _dealt(random, [country.split()[2] for country in lex.COUNTRIES])
    jobs = _dealt(random, lex.JOBS.split())
    likes = _dealt(random, lex.LIKES.split())
    pronouns = [_PRONOUN[g] for g, names in lex.NAMES.items() for _ in names.split()]
    return {
        name: {
            "Name": Form(name, "PROPN"),
            "He": Form(pronoun, "PRON"),
            "Birthplace": Form(city, "PROPN"),
            "Job": Form(job, "NOUN", "sg"),
            "Like": Form(like, "NOUN", "sg"),
            "Language": Form(tongue, "PROPN"),
        }
        for name, pronoun, city, tongue, job, like in zip(_PERSONS, pronouns, cities, tongues, jobs, likes, strict=True)
    }


def _dealt(random: Random, values: Sequence[str]) -> list[str]:
    """One value for each person, every value about equally often, in no order."""
    dealt = [values[k % len(values)] for k in range(len(_PERSONS))]
    random.shuffle(dealt)
    return dealt
