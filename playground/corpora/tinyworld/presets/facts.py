"""Facts one by one, each stated exactly so many times, some never."""

from playground.corpora.tinyworld.facts import FACTS as KNOWN
from playground.corpora.tinyworld.facts import Fact
from playground.corpora.tinyworld.grammar import Form, Part, Way, Ways
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import name_forms, phrase


def statements() -> Ways:
    """A document for every fact that is stated at all, in two wordings."""
    ways: dict[str, list[Way]] = {
        "Document": [(fact.mentions, (f"Told-{fact.name}",)) for fact in KNOWN if fact.mentions]
    }
    for fact in KNOWN:
        ways[f"Told-{fact.name}"] = [(1.0, (f"fact:{fact.name}{{", *words, "fact}")) for words in wordings(fact)]
    return ways


def wordings(fact: Fact) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Two ways to tell a fact; in the first the subject comes first, in the second its relation."""
    one = phrase("NP", *name_forms(fact.subject))
    two = (
        name_forms(fact.object)
        if fact.relation in ("born", "speaks", "capital")
        else (Form(fact.object, "NOUN", "sg"),)
    )
    sole, of = phrase("NP", *two), phrase("PP", "of", *name_forms(fact.subject))
    match fact.relation:
        case "born":
            first = (*one, *phrase("VP", "was", "born"), *phrase("PP", "in", *two))
            second = (*phrase("NP", "the", "birthplace"), *of, *phrase("VP", "is"), *sole)
        case "speaks":
            first = (*one, *phrase("VP", "speaks"), *sole)
            second = (*phrase("NP", "the", "language"), *of, *phrase("VP", "is"), *sole)
        case "capital":
            first = (*sole, *phrase("VP", "is"), *phrase("NP", "the", "capital"), *of)
            second = (*phrase("NP", "the", "capital"), *of, *phrase("VP", "is"), *sole)
        case "has":
            first = (*one, *phrase("VP", "has"), *phrase("NP", "a", *two))
            second = (*phrase("NP", "the", "sight"), *of, *phrase("VP", "is"), *phrase("NP", "a", *two))
        case "job":
            first = (*one, *phrase("VP", "is"), *phrase("NP", "a", *two))
            second = (*phrase("NP", "the", "job"), *of, *phrase("VP", "is"), *sole)
        case _:
            first = (*one, *phrase("VP", "likes"), *sole)
            second = (*phrase("NP", "the", "wish"), *of, *phrase("VP", "is"), *sole)
    return (*first, "."), (*second, ".")


FACTS = Preset(
    name="facts",
    aliases=("knowledge",),
    tokens=100_000,
    idea="Who was born where, does, likes and speaks what, and what towns have; each stated 1 to 16 times, or never.",
    rules="",
    words=statements,
    dealt=True,
)
