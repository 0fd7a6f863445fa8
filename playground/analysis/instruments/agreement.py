"""Subject and verb with 0 to 4 nouns of the other number between them (arXiv:1611.01368)."""

from dataclasses import dataclass

from playground.analysis.cloze import log_chances, words_seen
from playground.analysis.finding import Curve, Finding, Number, Table
from playground.analysis.floor.automaton import automaton
from playground.analysis.floor.chart import chart_of
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.probes import ProbeItem, agreement_items, encode, in_known_words, right_or_wrong
from playground.analysis.subject import Subject
from playground.knob import knob
from playground.models import Architecture

ATTRACTORS, FEWEST, CHECKED = range(5), 5, 20
"""Nouns of the other number; sentences in known words that are needed; sentences that are asked of the grammar."""


@dataclass(frozen=True)
class Settings:
    """How many sentences are asked."""

    count: int = knob(
        200, 20, 1_000, unit="sentences", why="With 200 sentences of each kind two standard errors are 7 points."
    )


def measure(subject: Subject, settings: Settings) -> Finding:
    """The share of verbs in the right number, by the number of attractors."""
    shares, errors, best = [], [], []
    for n in ATTRACTORS:
        items = in_known_words(agreement_items(n, settings.count), subject.corpus)
        batch, words = encode(items, subject.tokenizer, subject.model)
        right = right_or_wrong(log_chances(subject.model, batch), words).double()
        subject.count(len(items), f"sentences with {n} attractor{'s' * (n != 1)}")
        shares.append(float(right.mean()))
        errors.append((shares[-1] * (1 - shares[-1]) / len(items)) ** 0.5)
        best.append(_best(subject.model.shape, items[:CHECKED]))
    first, last = shares[0], shares[-1]
    columns = {
        "attractors": [*ATTRACTORS, *ATTRACTORS],
        "right": [*shares, *best],
        "low": [*(s - e for s, e in zip(shares, errors, strict=True)), *best],
        "high": [*(s + e for s, e in zip(shares, errors, strict=True)), *best],
        "who": ["model"] * 5 + ["grammar"] * 5,
    }
    return Finding(
        f"The verb agrees in {first:.0%} of the sentences without an attractor and in {last:.0%} with four.",
        tuple(
            Number(f"{n} attractor{'s' * (n != 1)}", share, "share right", {"chance": 0.5, "grammar": gold})
            for n, share, gold in zip(ATTRACTORS, shares, best, strict=True)
        ),
        (
            Table(
                "Agreement by attractors", columns, Curve("attractors", "right", "who", "low", "high"),
                unit="share right", lines={"chance": 0.5}, note="The band is one standard error.",
            ),
        ),
    )  # fmt: skip


def _best(shape: Architecture, items: list[ProbeItem]) -> float:
    """The share of verbs where the grammar, given the words that the model sees, prefers the right form."""
    right = 0
    for item in items:
        chart = chart_of(automaton("agreement"), item.words, "window")
        chances = chart.chances(item.position, words_seen(shape, item.position, len(item.words)))
        one, other = chart.automaton.tokenizer.encode_words([item.words[item.position], item.wrong])
        right += bool(chances[one] > chances[other])
    return right / len(items)


def knows_agreement(subject: Subject) -> str:
    """Its training text has the words of the sentences."""
    if all(len(in_known_words(agreement_items(n, 20), subject.corpus)) >= FEWEST for n in ATTRACTORS):
        return ""
    return (
        f"The corpus {subject.corpus.name} does not have the words of the test sentences; train on agreement or world."
    )


AGREEMENT_BY_ATTRACTORS = Instrument(
    name="agreement",
    group="Knowledge",
    question="Does the verb agree with its subject when there are other nouns in between?",
    source="arXiv:1611.01368; sentences of our grammar",
    measure=measure,
    rows=("V11",),
    needs=(scores_words, reads_sentences, knows_agreement),
    settings=Settings(),
)
