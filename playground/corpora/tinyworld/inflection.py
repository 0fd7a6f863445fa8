"""Plurals, past forms and the choice of a or an, by rule, with the exceptions of the lexicon."""

from playground.corpora.tinyworld.lexicon import AN, DOUBLED, PARTICIPLE, PAST, PLURAL

VOWELS = frozenset("aeiou")


def with_s(word: str) -> str:
    """The form in -s: a regular plural (dishes) or the third person of a verb (fries)."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if _y_after_consonant(word) else word + "s"


def plural(noun: str) -> str:
    """The plural of a noun: leaf, leaves."""
    return PLURAL.get(noun) or with_s(noun)


def past(verb: str) -> str:
    """The past form of a verb: weave, wove."""
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("e"):
        return verb + "d"
    if _y_after_consonant(verb):
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in DOUBLED else "") + "ed"


def participle(verb: str) -> str:
    """The past participle of a verb: weave, woven."""
    return PARTICIPLE.get(verb) or past(verb)


def takes_an(word: str) -> bool:
    """Whether the article before this word is "an" and not "a"."""
    return word[0] in VOWELS or word in AN


def _y_after_consonant(word: str) -> bool:
    return word.endswith("y") and word[-2] not in VOWELS
