"""The grammar of TinyWorld put together: the lexicon's words in the classes that the rules speak of."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import permutations

from playground import catalog
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld import rules
from playground.corpora.tinyworld.entities import name_forms
from playground.corpora.tinyworld.facts import PERSONS, PRONOUN, known_facts
from playground.corpora.tinyworld.grammar import Form, Grammar, Part, Remember, Way, Ways, build, read_rules
from playground.corpora.tinyworld.inflection import participle, past, plural, with_s
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import STEEPNESS, even, forms, names, phrase, zipf

_TOPICS = tuple(topic.name for topic in lex.TOPICS)
_MEANINGS = tuple(f"{word}.{meaning}" for word, both in lex.SENSES.items() for meaning, _ in both)
_CLOSED = {word: pos for pos, words in lex.CLOSED.items() for word in words.split()}
_NUMBER = {word: number for words, number in lex.NUMBER.items() for word in words.split()}
_TENSE = {word: tense for words, tense in lex.TENSE.items() for word in words.split()}

Zipf = Callable[[Iterable[Form]], list[Way]]
"""Gives words their chances, earlier ones larger."""

FEATURES = {
    "t": _TOPICS,
    "n": ("sg", "pl"),
    "p": ("bad", "good"),
    "k": ("1", "2", "3", "4"),
    "z": ("past", "now"),
    "a": ("0", "1", "2", "3", "4"),
    "w": PERSONS,
    "s": _MEANINGS,
    "f": tuple(lex.FIELDS),
}
OTHER = {"sg": "pl", "pl": "sg", "good": "bad", "bad": "good"}


def grammar(preset: str, steepness: float = STEEPNESS) -> Grammar:
    """The whole grammar of a preset, ready to write; `steepness` says how fast words get rarer."""
    return _grammar(preset, steepness)


@cache
def _grammar(preset: str, steepness: float) -> Grammar:
    """The same, built once (a cache takes a value left out for another one than the same value said)."""
    chosen = find_preset(preset)
    written = {**_common_rules(), **read_rules(chosen.rules.lstrip("\n"), FEATURES, OTHER)}
    return build({**written, **_classes(steepness), **chosen.words()}, "Document", closed)


@cache
def _common_rules() -> Ways:
    """What all presets write by, as far as they have no rule of their own of the same name."""
    return read_rules(rules.RULES, FEATURES, OTHER)


def find_preset(name: str) -> Preset:
    """One preset by its name."""
    return catalog.choose("playground.corpora.tinyworld.presets", Preset, name)


def closed(symbol: str) -> Form:
    """A small word as it stands in a rule, perhaps with its number of attractors: "is/1"."""
    word, _, attractors = symbol.partition("/")
    return Form(word, _CLOSED[word], _NUMBER.get(word, ""), attractors=attractors, tense=_TENSE.get(word, ""))


@cache
def _classes(steepness: float) -> Ways:
    """All classes of words that the rules speak of."""
    rarer = partial(zipf, steepness=steepness)
    topics = (_topic(topic, rarer) for topic in lex.TOPICS)
    parts = (_reviews(rarer), _people(), *topics, _stays(rarer), _homographs(), _senses())
    return {name: ways for part in parts for name, ways in part.items()}


def _reviews(zipf: Zipf) -> Ways:
    """Feeling words are equally frequent, so that a few labelled sentences cannot show them all."""
    return {
        "Adjective-good": even(forms(lex.GOOD, "ADJ")),
        "Adjective-bad": even(forms(lex.BAD, "ADJ")),
        "Pair-good": _pairs(lex.GOOD),
        "Pair-bad": _pairs(lex.BAD),
        "Verb-good": even(Form(verb, "VERB", tense="past") for verb in lex.LIKED.split()),
        "Verb-bad": even(Form(verb, "VERB", tense="past") for verb in lex.DISLIKED.split()),
        "Aspect": zipf(forms(lex.ASPECTS, "NOUN", "sg")),
        "Aspects": zipf(forms(lex.ASPECTS_PLURAL, "NOUN", "pl")),
        "Film": zipf(forms(lex.FILM_WORDS, "NOUN", "sg")),
    }


def _pairs(adjectives: str) -> list[Way]:
    """Two different words of one feeling, joined by "and" (Hatzivassiloglou and McKeown 1997, P97-1023, sec. 2)."""
    return [(1.0, (one, "and", other)) for one, other in permutations(forms(adjectives, "ADJ"), 2)]


def _topic(topic: lex.Topic, zipf: Zipf) -> Ways:
    """The people, places, things and deeds of one topic."""
    t = topic.name
    ways: dict[str, Sequence[Way]] = {
        f"At-{t}": [(1.0, (topic.at,))],
        f"Home-{t}": even(forms(t, "NOUN", "sg")),
        f"Person-{t}-sg": zipf(forms(topic.people, "NOUN", "sg")),
        f"Person-{t}-pl": zipf(_several(topic.people)),
        f"Place-{t}": zipf(forms(topic.places, "NOUN", "sg")),
        f"Quality-{t}": zipf(forms(topic.qualities, "ADJ")),
        f"Cast-{t}-sg": _cast_one(topic.people) + _cast_named(),
        f"Cast-{t}-pl": [(1.0, _cast_many(form)) for form in _several(topic.people)],
    }
    for k, phase in enumerate(topic.phases, start=1):
        ways |= {f"Noun-{t}-{k}-sg": zipf(forms(phase.things, "NOUN", "sg"))}
        ways |= {f"Noun-{t}-{k}-pl": zipf(_several(phase.things))}
        ways |= _deeds(f"Deed-{t}-{k}", phase.verbs, zipf)
        ways[f"Done-{t}-{k}"] = zipf(Form(participle(verb), "VERB") for verb in phase.verbs.split())
    return ways


def _several(nouns: str) -> list[Form]:
    return [Form(plural(noun), "NOUN", "pl") for noun in nouns.split()]


def _deeds(name: str, verbs: str, zipf: Zipf) -> Ways:
    """Past forms show no number; present forms do."""
    return {
        f"{name}-sg-past": zipf(Form(past(verb), "VERB", tense="past") for verb in verbs.split()),
        f"{name}-pl-past": zipf(Form(past(verb), "VERB", tense="past") for verb in verbs.split()),
        f"{name}-sg-now": zipf(Form(with_s(verb), "VERB", "sg", tense="present") for verb in verbs.split()),
        f"{name}-pl-now": zipf(Form(verb, "VERB", "pl", tense="present") for verb in verbs.split()),
    }


def _pronouns(noun: str) -> list[str]:
    """He or she: known for some nouns, else either."""
    return [PRONOUN[lex.GENDER[noun]]] if noun in lex.GENDER else ["she", "he"]


def _remember(intro: tuple[Part, ...], hero: tuple[Part, ...], pronoun: str) -> tuple[Part, ...]:
    """What later calls the same person or people, who form one chain: the first time, again, and by a pronoun."""
    return tuple(
        Remember(name, _chained(*parts)) for name, parts in (("Intro", intro), ("Hero", hero), ("Pronoun", (pronoun,)))
    )


def _chained(*parts: Part) -> tuple[Part, ...]:
    return ("chain:hero{", *parts, "chain}")


def _cast_one(people: str) -> list[Way]:
    """A story about one person: "a chef", then "the chef" or "she"."""
    return [
        (1 / len(_pronouns(form.word)), _remember(("a", form), ("the", form), pronoun))
        for form in forms(people, "NOUN", "sg")
        for pronoun in _pronouns(form.word)
    ]


def _cast_many(form: Form) -> tuple[Part, ...]:
    """A story about several people: "two chefs", then "the chefs" or "they"."""
    return _remember(("two", form), ("the", form), "they")


def _cast_named() -> list[Way]:
    """A story about somebody with a name, a fifth as likely as one without."""
    names = [(name, PRONOUN[g]) for g, names in lex.NAMES.items() for name in names.split()]
    return [(1 / len(names), _remember(name_forms(name), name_forms(name), pronoun)) for name, pronoun in names]


def _stays(zipf: Zipf) -> Ways:
    verbs = lex.STAYS.split()
    one = {
        f"Stay-sg-{a}": even(Form(with_s(v), "VERB", "sg", attractors=a, tense="present") for v in verbs)
        for a in FEATURES["a"]
    }
    many = {
        f"Stay-pl-{a}": even(Form(v, "VERB", "pl", attractors=a, tense="present") for v in verbs) for a in FEATURES["a"]
    }
    return {**one, **many, "Anyhow": zipf(forms(lex.STATES, "ADJ"))}


def _homographs() -> Ways:
    """Words that are nouns and verbs: "a play", "many plays", "she plays", "they play"."""
    words = lex.HOMOGRAPHS.split()
    return {
        "Namesake-sg": even(Form(word, "NOUN", "sg") for word in words),
        "Namesake-pl": even(Form(with_s(word), "NOUN", "pl") for word in words),
        "Practice-sg": even(Form(with_s(word), "VERB", "sg", tense="present") for word in words),
        "Practice-pl": even(Form(word, "VERB", "pl", tense="present") for word in words),
        "Practice": even(Form(word, "VERB") for word in words),
    }


def _senses() -> Ways:
    """Words with two meanings, and the words of the field of each; all meanings are equally frequent."""
    ways: dict[str, list[Way]] = {"Field": []}
    for field, cues in lex.FIELDS.items():
        meanings = [sense for sense, of in lex.FIELD.items() if of == field]
        ways["Field"].append((len(meanings), (f"Riddle-{field}",)))
        ways[f"Sensed-{field}"] = [(1.0, (f"Sense-{sense}",)) for sense in meanings]
        ways[f"Bare-{field}"] = [(1.0, (f"Bare-{sense}",)) for sense in meanings]
        ways[f"Cue-{field}"] = even(forms(cues, "NOUN", "sg"))
    for sense, field in lex.FIELD.items():
        ways[f"Word-{sense}"] = even([Form(sense.partition(".")[0], "NOUN", "sg", sense=sense)])
        ways[f"Cue-{sense}"] = [(1.0, (f"Cue-{field}",))]
    return ways


def _people() -> Ways:
    """Named people and what is true of them; places with their names and languages."""
    lives = [(1 / rank**0.5, (f"Life-{name}",)) for rank, name in enumerate(_spread(), start=1)]
    capitals = [(1 / rank**STEEPNESS, way) for rank, way in enumerate(map(_capital, lex.COUNTRIES), start=1)]
    ways: dict[str, Sequence[Way]] = {
        "Life": lives,
        "Anybody": names(PERSONS),
        "Capital": capitals,
        "Crossed": names(lex.CROSSED),
        "Town": names(lex.TOWNS),
        "Women": names(lex.NAMES["f"].split()),
        "Men": names(lex.NAMES["m"].split()),
        "Dealt": even(Form(past(verb), "VERB", tense="past") for verb in lex.DEALINGS.split()),
        "Dealt-with": even(Form(participle(verb), "VERB") for verb in lex.DEALINGS.split()),
        "Cry": [(1.0, _cry(*cry)) for cry in lex.CRIES.items()],
    }
    for name, facts in known_facts().items():
        ways |= {f"{kind}-{name}": even([form]) for kind, form in facts.items()}
        ways |= {f"{kind}-{name}": [(1.0, _chained(facts[kind]))] for kind in ("Name", "He")}
    return ways


def _cry(animal: str, verb: str) -> tuple[Part, ...]:
    cries = Form(past(verb), "VERB", tense="past")
    return (*phrase("NP:agent", "the", Form(animal, "NOUN", "sg")), *phrase("VP:action", cries), ".")


def _spread() -> list[str]:
    """Everybody, women and men in turn, from the most to the least talked about."""
    women, men = (names.split() for names in lex.NAMES.values())
    return [name for pair in zip(women, men, strict=True) for name in pair]


def _capital(country: str) -> tuple[Part, ...]:
    (land,), (city,), _ = map(name_forms, country.split())
    capital = phrase("NP", "the", "capital")
    return (*phrase("NP", city), *phrase("VP", "is"), *capital, *phrase("PP", "of", land), ".")
