"""Analogies by vector offset, and sums of words (arXiv:1301.3781, arXiv:1310.4546)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from playground.analysis.finding import Bars, Curve, Finding, Number, Table, columns_of
from playground.analysis.instrument import Instrument
from playground.analysis.subject import Subject
from playground.analysis.words.vectors import (
    frequent_words,
    in_a_plane,
    known_words,
    nearest,
    three_cos_add,
    word_vectors,
)
from playground.corpora.tinyworld.lexicon import COUNTRIES
from playground.corpora.tinyworld.tasks.analogies import Analogy, analogy_questions
from playground.errors import UserError
from playground.knob import knob

FEWEST = 10
"""Questions of a relation, and countries, that are needed for a share."""

TOP, ALONE = 5, "nearest to the third word"


@dataclass(frozen=True)
class Settings:
    """How often words must stand in the training text."""

    fewest: int = knob(5, 1, 1000, unit="occurrences", why="Rarer words are neither asked for nor answers.")


DEFAULT = Settings()


def asked(subject: Subject, fewest: int) -> list[Analogy]:
    """The questions all of whose words the training text has so often, of relations with enough of them."""
    known = known_words(subject.corpus, fewest)
    every = [one for one in analogy_questions() if known.issuperset((one.a, one.b, one.c, one.d))]
    count = Counter(one.relation for one in every)
    return [one for one in every if count[one.relation] >= FEWEST]


def has_analogies(subject: Subject, fewest: int = DEFAULT.fewest) -> str:
    """The training text has the words of some relation."""
    if not asked(subject, fewest):
        return f"Too few words of analogies occur {fewest} times in {subject.corpus.name}. Choose the corpus families."
    return ""


def measure(subject: Subject, settings: Settings) -> Finding:
    """3CosAdd for every relation, beside what the word alone would answer; the points of one parallelogram."""
    if sentence := has_analogies(subject, settings.fewest):
        raise UserError(sentence)
    questions, vectors = asked(subject, settings.fewest), word_vectors(subject.model)
    known = frequent_words(subject.corpus, settings.fewest)
    subject.count(len(questions), "questions")
    ids = [(a, b, c) for a, b, c in (_ids(subject, (q.a, q.b, q.c)) for q in questions)]
    solved = three_cos_add(vectors, known, ids)
    expected = torch.tensor(_ids(subject, [q.d for q in questions]))
    right, alone = solved.answers == expected, solved.without_offset == expected
    relations = list(dict.fromkeys(q.relation for q in questions))
    of = {name: torch.tensor([q.relation == name for q in questions]) for name in relations}
    ways = {"3CosAdd": right.double(), ALONE: alone.double()}
    rows = [(name, float(hits[of[name]].mean()), way) for way, hits in ways.items() for name in relations]
    shares = {(name, way): share for name, share, way in rows}
    numbers = tuple(
        Number(name, shares[name, "3CosAdd"], "share right",
               {ALONE: shares[name, ALONE], "chance": 1 / (len(known) - 3)})
        for name in relations
    )  # fmt: skip
    first = next((k for k in range(len(questions)) if right[k]), 0)
    best = max(relations, key=lambda name: shares[name, "3CosAdd"])
    return Finding(
        f"Of {', '.join(relations)}, {best} is solved best: {shares[best, '3CosAdd']:.0%} of the questions.",
        numbers,
        (
            Table(
                "Analogies solved",
                columns_of(("relation", "right", "answer"), rows),
                Bars("relation", "right", "answer"),
                "share of questions",
            ),
            _parallelogram(vectors, questions[first], [*ids[first], int(expected[first])]),
            _answers(subject, questions, solved.answers, right),
        ),
    )


def _ids(subject: Subject, words: Sequence[str]) -> list[int]:
    return [subject.tokenizer.encode_word(word)[0] for word in words]


def _parallelogram(vectors: Tensor, one: Analogy, ids: list[int]) -> Table:
    """The four words and the point b - a + c, in the plane of the four words."""
    a, b, c, d = words = normalize(vectors[ids], dim=-1)
    x = in_a_plane(torch.stack([a, b, b - a + c, c, a, d]), words)
    columns = {
        "x": x[:, 0].tolist(),
        "y": x[:, 1].tolist(),
        "line": ["offset"] * 5 + ["true answer"],
        "word": [one.a, one.b, "b - a + c", one.c, one.a, one.d],
    }
    note = f"{one.a} is to {one.b} as {one.c} is to {one.d}: b - a + c should be near {one.d}."
    return Table("The parallelogram of one question", columns, Curve("x", "y", "line"), note=note)


def _answers(subject: Subject, questions: Sequence[Analogy], answers: Tensor, right: Tensor) -> Table:
    order = sorted(range(len(questions)), key=lambda k: (bool(right[k]), questions[k].relation))[:60]
    words = (subject.tokenizer.words[int(answers[k])] for k in order)
    rows = [
        (f"{q.a} : {q.b} = {q.c} : ?", word, q.d) for q, word in zip((questions[k] for k in order), words, strict=True)
    ]
    return Table("Wrong answers first", columns_of(("question", "answer", "true"), rows))


def has_capitals(subject: Subject, fewest: int = DEFAULT.fewest) -> str:
    """The training text has the word capital and some countries with their capitals."""
    if len(_capitals(subject, fewest)) < FEWEST:
        return f"Too few capitals occur {fewest} times in {subject.corpus.name}. Choose the corpus families."
    return ""


def _capitals(subject: Subject, fewest: int) -> list[tuple[str, str]]:
    known = known_words(subject.corpus, fewest)
    pairs = [tuple(line.split()[:2]) for line in COUNTRIES]
    return [(a, b) for a, b in pairs if {a, b, "capital"} <= known]


def measure_sums(subject: Subject, settings: Settings) -> Finding:
    """The words nearest to vec(country) + vec("capital"), beside those nearest to the country alone."""
    if sentence := has_capitals(subject, settings.fewest):
        raise UserError(sentence)
    pairs, vectors = _capitals(subject, settings.fewest), normalize(word_vectors(subject.model), dim=-1)
    known = frequent_words(subject.corpus, settings.fewest)
    subject.count(len(pairs), "countries")
    capital = subject.tokenizer.encode_word("capital")[0]
    ranks: dict[str, list[int]] = {"country + capital": [], "country alone": []}
    rows = []
    for country, city in pairs:
        one, other = _ids(subject, (country, city))
        candidates = known[(known != one) & (known != capital)]
        for name, target in (("country + capital", vectors[one] + vectors[capital]), ("country alone", vectors[one])):
            found = nearest(target[None], vectors, candidates, len(candidates))[0][0].tolist()
            ranks[name].append(found.index(other))
            if name == "country + capital":
                rows.append((f"{country} + capital", ", ".join(subject.tokenizer.words[k] for k in found[:3]), city))
    share = {name: sum(rank == 0 for rank in row) / len(row) for name, row in ranks.items()}
    top = {name: sum(rank < TOP for rank in row) / len(row) for name, row in ranks.items()}
    chance = 1 / (len(known) - 2)
    return Finding(
        f"For {share['country + capital']:.0%} of the countries the word nearest to country + capital is its capital.",
        (
            Number("capital is the nearest", share["country + capital"], "share of countries",
                   {"country alone": share["country alone"], "chance": chance}),
            Number(f"capital is among the nearest {TOP}", top["country + capital"], "share of countries",
                   {"country alone": top["country alone"], "chance": TOP * chance}),
        ),
        (Table("Sums of two words", columns_of(("sum", "nearest", "true"), rows)),),
    )  # fmt: skip


ANALOGIES = Instrument(
    name="analogies",
    group="Words",
    question="Is the vector offset from king to queen the same as from uncle to aunt?",
    source="arXiv:1301.3781; 3CosAdd, W14-1618",
    measure=measure,
    rows=("V17",),
    needs=(has_analogies,),
    settings=DEFAULT,
)

COMPOSITIONALITY = Instrument(
    name="sums of words",
    group="Words",
    question="Is the sum of the vectors of a country and the word capital near the vector of its capital?",
    source="arXiv:1310.4546, sec. 5",
    measure=measure_sums,
    rows=("V18",),
    needs=(has_capitals,),
    settings=DEFAULT,
)
