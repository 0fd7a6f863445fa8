"""Who does what to whom: pronouns as agents and patients of active and passive sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from playground.analysis.cloze import log_chances
from playground.analysis.finding import Bars, Finding, Number, Table
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.probes import ProbeItem, encode, in_known_words, right_or_wrong
from playground.analysis.subject import Subject
from playground.corpora.tinyworld.tasks.draw import write_words
from playground.knob import knob
from playground.rng import derive

OTHER_CASE = {"he": "him", "him": "he", "she": "her", "her": "she"}
"""The same person in the other case."""

KINDS = ("agent, active", "patient, active", "patient, passive", "agent, passive")
"""The role of the pronoun; as subject it is he or she, else him or her."""

FEWEST = 5


@dataclass(frozen=True)
class Settings:
    """How many sentences are asked."""

    count: int = knob(100, 10, 500, unit="sentences of each kind", why="With 100 two standard errors are 10 points.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """The share of pronouns in the case that their role asks for."""
    shares = {}
    for kind, items in _items(settings.count).items():
        known = in_known_words(items, subject.corpus)
        batch, words = encode(known, subject.tokenizer, subject.model)
        subject.count(len(known), f"sentences, {kind}")
        shares[kind] = float(right_or_wrong(log_chances(subject.model, batch), words).mean())
    worst = min(shares, key=shares.__getitem__)
    columns = {"role": list(shares), "right": list(shares.values())}
    return Finding(
        f"The right pronoun wins in {sum(shares.values()) / len(shares):.0%}; hardest: {worst}, {shares[worst]:.0%}.",
        tuple(Number(kind, share, "share right", {"chance": 0.5, "grammar": 1.0}) for kind, share in shares.items()),
        (Table("Right pronoun by role", columns, Bars("role", "right"), unit="share right", lines={"chance": 0.5}),),
    )


def _items(count: int) -> dict[str, list[ProbeItem]]:
    """Sentences of each kind, the same every time, with the pronoun in the other case as the wrong word."""
    random = Random(derive(0, "roles"))
    found: dict[str, list[ProbeItem]] = {kind: [] for kind in KINDS}
    while any(len(items) < count for items in found.values()):
        for sentence in _sentences(write_words("world", "Meeting", random)):
            for position, word in enumerate(sentence[:-1]):
                if word in OTHER_CASE:
                    items = found[KINDS[2 * ("by" in sentence) + (position > 0)]]
                    items += [ProbeItem(sentence, position, OTHER_CASE[word])] * (len(items) < count)
    return found


def _sentences(words: list[str]) -> Iterator[list[str]]:
    """The sentences of a text, each with its full stop."""
    while words:
        stop = words.index(".") + 1
        yield words[:stop]
        words = words[stop:]


def knows_roles(subject: Subject) -> str:
    """Its training text has the words of the sentences."""
    if all(len(in_known_words(items, subject.corpus)) >= FEWEST for items in _items(10).values()):
        return ""
    return f"The corpus {subject.corpus.name} has no people who greet and push each other; train on roles or world."


ROLES = Instrument(
    name="roles",
    group="Knowledge",
    question="Does the model know who acts and who is acted upon, in active and in passive sentences?",
    source="after arXiv:1907.13528 (role reversal); sentences of our grammar",
    measure=measure,
    rows=("V12",),
    needs=(scores_words, reads_sentences, knows_roles),
    settings=Settings(),
)
