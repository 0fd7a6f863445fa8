"""Facts as cloze questions by how often the text states them (LAMA, arXiv:1909.01066)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from playground.analysis.facts import WORDINGS, AnsweredQuestions, ask, known_questions, knows_facts, mention_counts
from playground.analysis.finding import Bars, Curve, Finding, Number, Table, columns_of
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.subject import Subject

BEST, TOGETHER = "better of both", "both together"


def measure(subject: Subject, _: object) -> Finding:
    """P@1 over the whole vocabulary in two wordings, in the better one, and with their log chances added."""
    asked = [ask(subject, known_questions(subject.corpus, wording)) for wording in range(len(WORDINGS))]
    hits = {
        **{name: one.hits for name, one in zip(WORDINGS, asked, strict=True)},
        BEST: torch.stack([one.hits for one in asked]).amax(0),
        TOGETHER: (torch.stack([one.chances for one in asked]).sum(0).argmax(1) == asked[0].right).double(),
    }
    counts = mention_counts(subject.corpus, asked[0].questions)
    stated = torch.tensor([count > 0 for count in counts])
    subject.count(len(counts), "facts")
    groups, chance = _bins(counts), _chance(asked[0])
    rows = [
        (first, float(right[positions].mean()), len(positions), name)
        for name, right in hits.items()
        for first, positions in groups.items()
    ]
    columns = columns_of(("mentions", "P@1", "facts", "wording"), rows)
    shares = {what: _share(hits[TOGETHER], rows) for what, rows in (("stated", stated), ("never stated", ~stated))}
    unstated = f", of the {int((~stated).sum())} others {shares['never stated']:.0%}" if bool((~stated).any()) else ""
    return Finding(
        f"Of the facts in the training text {shares['stated']:.0%} are answered correctly{unstated}.",
        tuple(
            Number(f"P@1, {what}", share, "share right", {"guessing among the answers": chance})
            for what, share in shares.items()
            if share == share  # no facts of this kind: not a number
        ),
        (
            Table("P@1 by mentions", columns, Curve("mentions", "P@1", "wording"), unit="share right",
                  lines={"guessing": chance}, note="A mention is a training sentence with both subject and object."),
            _by_relation(asked[0], hits),
        ),
    )  # fmt: skip


def _bins(counts: Sequence[int]) -> dict[int, Tensor]:
    """The facts by their mentions: 0, 1, 2 to 3, 4 to 7 and so on, each named by the least."""
    least = torch.tensor([0 if not count else 1 << (count.bit_length() - 1) for count in counts])
    return {int(first): (least == first).nonzero()[:, 0] for first in least.unique()}


def _chance(asked: AnsweredQuestions) -> float:
    """The share right of one who knows the answers of each relation but not whose they are."""
    answers: dict[str, set[str]] = {}
    for question in asked.questions:
        answers.setdefault(question.fact.relation, set()).add(question.fact.object)
    return sum(1 / len(answers[question.fact.relation]) for question in asked.questions) / len(asked.questions)


def _share(hits: Tensor, rows: Tensor) -> float:
    return float(hits[rows].mean()) if bool(rows.any()) else float("nan")


def _by_relation(asked: AnsweredQuestions, hits: dict[str, Tensor]) -> Table:
    """How much the wording of a question matters (arXiv:1911.12543)."""
    relations = [question.fact.relation for question in asked.questions]
    rows = [
        (relation, float(right[[r == relation for r in relations]].mean()), name)
        for name, right in hits.items()
        for relation in dict.fromkeys(relations)
    ]
    columns = columns_of(("relation", "P@1", "wording"), rows)
    return Table("P@1 by relation and wording", columns, Bars("relation", "P@1", "wording"), unit="share right",
                 note="A left-to-right model cannot answer a question whose answer comes first.")  # fmt: skip


FACTS_BY_MENTIONS = Instrument(
    name="facts",
    group="Knowledge",
    question="Which facts does the model know, and how often must the training text mention a fact?",
    source="LAMA, arXiv:1909.01066; better prompts, arXiv:1911.12543",
    measure=measure,
    rows=("V13", "V14"),
    needs=(scores_words, reads_sentences, knows_facts),
)
