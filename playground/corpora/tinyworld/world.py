"""The grammar of TinyWorld: the rules with the words of the lexicon in their word classes."""

from collections.abc import Sequence
from functools import cache
from itertools import permutations

from playground import catalog
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.facts import PERSONS, PRONOUN, known_facts
from playground.corpora.tinyworld.grammar import Form, Grammar, Part, Remember, Way, Ways, build, read_rules
from playground.corpora.tinyworld.inflection import participle, past, plural, with_s
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.rules import RULES
from playground.corpora.tinyworld.ways import STEEPNESS, even, forms, name_forms, names, phrase, zipf

_CLOSED = {word: pos for pos, words in lex.CLOSED.items() for word in words.split()}
_NUMBER = {word: number for words, number in lex.NUMBER.items() for word in words.split()}
_TENSE = {word: tense for words, tense in lex.TENSE.items() for word in words.split()}

FEATURES = {
    "t": tuple(topic.name for topic in lex.TOPICS),
    "n": ("sg", "pl"),
    "p": ("bad", "good"),
    "k": ("1", "2", "3", "4"),
    "z": ("past", "now"),
    "a": ("0", "1", "2", "3", "4"),
    "w": PERSONS,
    "s": tuple(lex.FIELD),
    "f": tuple(lex.FIELDS),
}
OTHER = {"sg": "pl", "pl": "sg", "good": "bad", "bad": "good"}


@cache
def grammar(preset: str) -> Grammar:
    """The whole grammar of a preset; its own rules and words take precedence over the common ones."""
    own = find_preset(preset)
    rules = read_rules(own.rules.lstrip("\n"), FEATURES, OTHER)
    return build({**_common_ways(), **rules, **own.words()}, "Document", closed)


def find_preset(name: str) -> Preset:
    """One preset by its name."""
    return catalog.choose("playground.corpora.tinyworld.presets", Preset, name)


def closed(symbol: str) -> Form:
    """A word as it stands in a rule, perhaps with its number of attractors: "is/1"."""
    word, _, attractors = symbol.partition("/")
    return Form(word, _CLOSED[word], _NUMBER.get(word, ""), attractors=attractors, tense=_TENSE.get(word, ""))


@cache
def _common_ways() -> Ways:
    """The common rules, and all classes of words that the rules refer to."""
    classes = (_reviews(), _people(), *map(_topic, lex.TOPICS), _stays(), _homographs(), _senses())
    return {name: ways for part in (read_rules(RULES, FEATURES, OTHER), *classes) for name, ways in part.items()}


def _reviews() -> Ways:
    """Polar words are equally frequent, so that a few labelled sentences cannot cover them."""
    return {
        "Adjective-good": even(forms(lex.GOOD, "ADJ")),
        "Adjective-bad": even(forms(lex.BAD, "ADJ")),
        "Pair-good": _pairs(lex.GOOD),
        "Pair-bad": _pairs(lex.BAD),
        "Verb-good": even(forms(lex.LIKED, "VERB", tense="past")),
        "Verb-bad": even(forms(lex.DISLIKED, "VERB", tense="past")),
        "Aspect": zipf(forms(lex.ASPECTS, "NOUN", "sg")),
        "Aspects": zipf(forms(lex.ASPECTS_PLURAL, "NOUN", "pl")),
        "Film": zipf(forms(lex.FILM_WORDS, "NOUN", "sg")),
    }


def _pairs(adjectives: str) -> list[Way]:
    """Two different words of one polarity, joined by "and" (Hatzivassiloglou and McKeown 1997, P97-1023, sec. 2)."""
    return [(1.0, (one, "and", other)) for one, other in permutations(forms(adjectives, "ADJ"), 2)]


def _topic(topic: lex.Topic) -> Ways:
    """The people, places, things and events of one topic; past forms show no number, present forms do."""
    t, groups = topic.name, forms(topic.people, "NOUN", "pl", inflect=plural)
    ways: dict[str, Sequence[Way]] = {
        f"At-{t}": [(1.0, (topic.at,))],
        f"Home-{t}": even(forms(t, "NOUN", "sg")),
        f"Person-{t}-sg": zipf(forms(topic.people, "NOUN", "sg")),
        f"Person-{t}-pl": zipf(groups),
        f"Place-{t}": zipf(forms(topic.places, "NOUN", "sg")),
        f"Quality-{t}": zipf(forms(topic.qualities, "ADJ")),
        f"Cast-{t}-sg": _cast(topic.people),
        f"Cast-{t}-pl": [(1.0, _remember(("two", form), ("the", form), "they")) for form in groups],
    }
    for k, (verbs, things) in enumerate(topic.phases.items(), start=1):
        ways |= {
            f"Noun-{t}-{k}-sg": zipf(forms(things, "NOUN", "sg")),
            f"Noun-{t}-{k}-pl": zipf(forms(things, "NOUN", "pl", inflect=plural)),
            f"Deed-{t}-{k}-sg-past": zipf(forms(verbs, "VERB", tense="past", inflect=past)),
            f"Deed-{t}-{k}-pl-past": zipf(forms(verbs, "VERB", tense="past", inflect=past)),
            f"Deed-{t}-{k}-sg-now": zipf(forms(verbs, "VERB", "sg", tense="present", inflect=with_s)),
            f"Deed-{t}-{k}-pl-now": zipf(forms(verbs, "VERB", "pl", tense="present")),
            f"Done-{t}-{k}": zipf(forms(verbs, "VERB", inflect=participle)),
        }
    return ways


def _cast(people: str) -> list[Way]:
    """A story about one person: "a chef", then "the chef" or "she"; a name is a fifth as likely as a noun."""
    ways: list[Way] = []
    for form in forms(people, "NOUN", "sg"):
        gender = lex.GENDER.get(form.word)
        pronouns = [PRONOUN[gender]] if gender else ["she", "he"]
        ways += [(1 / len(pronouns), _remember(("a", form), ("the", form), pronoun)) for pronoun in pronouns]
    named = [(name, PRONOUN[gender]) for gender, names in lex.NAMES.items() for name in names.split()]
    return ways + [(1 / len(named), _remember(name_forms(name), name_forms(name), he)) for name, he in named]


def _remember(first: tuple[Part, ...], again: tuple[Part, ...], pronoun: str) -> tuple[Part, ...]:
    """Bind the three mentions of the hero, which form one chain: the first, a later one, and a pronoun."""
    mentions = {"Intro": first, "Hero": again, "Pronoun": (pronoun,)}
    return tuple(Remember(name, _chained(*parts)) for name, parts in mentions.items())


def _chained(*parts: Part) -> tuple[Part, ...]:
    return ("chain:hero{", *parts, "chain}")


def _stays() -> Ways:
    ways: dict[str, Sequence[Way]] = {"Anyhow": zipf(forms(lex.STATES, "ADJ"))}
    verbs = lex.STAYS.split()
    for a in FEATURES["a"]:
        singular = (Form(with_s(verb), "VERB", "sg", attractors=a, tense="present") for verb in verbs)
        several = (Form(verb, "VERB", "pl", attractors=a, tense="present") for verb in verbs)
        ways |= {f"Stay-sg-{a}": even(singular), f"Stay-pl-{a}": even(several)}
    return ways


def _homographs() -> Ways:
    """Words that are nouns and verbs: "a play", "many plays", "she plays", "they play"."""
    words = lex.HOMOGRAPHS
    return {
        "Namesake-sg": even(forms(words, "NOUN", "sg")),
        "Namesake-pl": even(forms(words, "NOUN", "pl", inflect=with_s)),
        "Practice-sg": even(forms(words, "VERB", "sg", tense="present", inflect=with_s)),
        "Practice-pl": even(forms(words, "VERB", "pl", tense="present")),
        "Practice": even(forms(words, "VERB")),
    }


def _senses() -> Ways:
    """Ambiguous words and the cue words of their semantic fields; all meanings are equally frequent."""
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
    """Named people with the facts about them, and places with their names and languages.

    Lives and capitals get rarer along their lists; in that of the lives women and men alternate.
    """
    women, men = (names.split() for names in lex.NAMES.values())
    people = [name for pair in zip(women, men, strict=True) for name in pair]
    ways: dict[str, Sequence[Way]] = {
        "Life": [(1 / rank**0.5, (f"Life-{name}",)) for rank, name in enumerate(people, start=1)],
        "Anybody": names(PERSONS),
        "Capital": [(1 / rank**STEEPNESS, _capital(land)) for rank, land in enumerate(lex.COUNTRIES, start=1)],
        "Crossed": names(lex.CROSSED),
        "Town": names(lex.TOWNS),
        "Women": names(women),
        "Men": names(men),
        "Dealt": even(forms(lex.DEALINGS, "VERB", tense="past", inflect=past)),
        "Dealt-with": even(forms(lex.DEALINGS, "VERB", inflect=participle)),
        "Cry": [(1.0, _cry(*cry)) for cry in lex.CRIES.items()],
    }
    for name, facts in known_facts().items():
        ways |= {f"{kind}-{name}": even([form]) for kind, form in facts.items()}
        ways |= {f"{kind}-{name}": [(1.0, _chained(facts[kind]))] for kind in ("Name", "He")}
    return ways


def _cry(animal: str, verb: str) -> tuple[Part, ...]:
    agent = phrase("NP:agent", "the", Form(animal, "NOUN", "sg"))
    return (*agent, *phrase("VP:action", Form(past(verb), "VERB", tense="past")), ".")


def _capital(country: str) -> tuple[Part, ...]:
    (land,), (city,), _ = map(name_forms, country.split())
    capital = phrase("NP", "the", "capital")
    return (*phrase("NP", city), *phrase("VP", "is"), *capital, *phrase("PP", "of", land), ".")
