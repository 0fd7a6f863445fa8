"""The last word of a text by its distance from the only word that decides it (LAMBADA, arXiv:1606.06031)."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from playground.analysis.cloze import log_chances, with_gap
from playground.analysis.finding import Curve, Finding, Number, Table, columns_of
from playground.analysis.instrument import Instrument, labels, reads_sentences, scores_words
from playground.analysis.subject import Subject
from playground.batch import Tokens
from playground.corpora import Corpus
from playground.knob import knob
from playground.tokenizing.padding import pad_rows


@dataclass(frozen=True)
class Settings:
    """How many texts are asked."""

    texts: int = knob(
        100, 10, 500, unit="texts a distance", why="With 100 texts two standard errors are up to 10 points."
    )


@dataclass(frozen=True)
class Documents:
    """Held-out documents `[b, t]` whose last word is at one distance from the word that decides it."""

    distance: int
    tokens: Tokens
    positions: torch.Tensor

    @property
    def answers(self) -> torch.Tensor:
        """The last words `[b]`."""
        return self.tokens.ids[torch.arange(len(self.positions)), self.positions]


def measure(subject: Subject, settings: Settings) -> Finding:
    """The share of last words that are the likeliest of all words, by distance."""
    trained = _last_words(subject.corpus)
    most_frequent, chance = int(trained.bincount().argmax()), 1 / len(trained.unique())
    rows, device = [], subject.model.token_embedding.weight.device
    for documents in _documents(subject.corpus, settings.texts):
        batch = with_gap(subject.model.shape, documents.tokens.to(device), documents.positions.to(device))
        right = (log_chances(subject.model, batch).argmax(1).cpu() == documents.answers).double()
        share, number = float(right.mean()), len(right)
        error = (share * (1 - share) / number) ** 0.5
        frequent = float((documents.answers == most_frequent).double().mean())
        rows.append((documents.distance, share, number, share - error, share + error, frequent))
        subject.count(number, f"texts of distance {documents.distance}", settings.texts)
    columns = columns_of(("distance", "accuracy", "texts", "low", "high", "most frequent word"), rows)
    near, far = rows[0], rows[-1]
    return Finding(
        f"The last word is right in {near[1]:.0%} of the texts where {near[0]} words separate it from the word that "
        f"decides it, and in {far[1]:.0%} where {far[0]} words do.",
        tuple(
            Number(f"distance {distance}", share, "share right",
                   {"guessing": chance, "most frequent word": frequent})
            for distance, share, _, _, _, frequent in rows
        ),
        (
            Table("Last word by distance", columns, Curve("distance", "accuracy", low="low", high="high"),
                  unit="share right", lines={"guessing": chance},
                  note="Distance is the number of words in between. The band is one standard error. Guessing is a "
                  "random choice among the words that end such texts."),
        ),
    )  # fmt: skip


def _last_words(corpus: Corpus) -> torch.Tensor:
    """The last words of all training documents."""
    end = corpus.held_out_from
    return corpus.ids[:end][corpus.labels["gap"][:end] >= 0].long()


def _documents(corpus: Corpus, most: int) -> Iterator[Documents]:
    """At most so many whole held-out documents of each distance, the nearest first."""
    first = corpus.held_out_from
    ids, gaps, document = corpus.ids[first:], corpus.labels["gap"][first:].long(), corpus.document_ids[first:]
    text = corpus.tokenizer.specials.in_text(ids)
    whole = document > int(corpus.document_ids[first - 1])
    for gap, name in enumerate(corpus.label_names["gap"]):
        last = ((gaps == gap) & whole).nonzero()[:most, 0]
        if not len(last):
            continue
        rows, positions = [], []
        for at in last.tolist():
            there = ((document == document[at]) & text).nonzero()[:, 0]
            rows.append(ids[there].tolist())
            positions.append(int((there < at).sum()))
        tokens = pad_rows(rows, corpus.tokenizer.specials, corpus.tokenizer.words)
        yield Documents(int(name), tokens, torch.tensor(positions))


LAST_WORD = Instrument(
    name="last word",
    group="Knowledge",
    question="How far back can the word be that decides the last word of a text?",
    source="LAMBADA, arXiv:1606.06031; texts of the corpus gaps, where the distance is exact",
    measure=measure,
    rows=("T28",),
    needs=(scores_words, reads_sentences, labels("gap")),
    settings=Settings(),
)
