"""Nearest neighbours of a word, and a map of words by PCA and t-SNE (van der Maaten and Hinton 2008)."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import normalize

from playground.analysis.finding import Bars, Finding, Number, Scatter, Table
from playground.analysis.instrument import Instrument
from playground.analysis.subject import Subject
from playground.analysis.words.vectors import frequent_words, id_of, in_a_plane, nearest, word_vectors
from playground.errors import UserError
from playground.knob import knob
from playground.rng import derive


@dataclass(frozen=True)
class Settings:
    """The word that is asked for, and the words on the map."""

    word: str = knob("", why="Empty: the fiftieth most frequent word.")
    neighbours: int = knob(10, 1, 50, unit="words", why="How many neighbours are listed.")
    words: int = knob(200, 12, 600, unit="words", why="How many of the most frequent words the map shows.")
    method: Literal["PCA", "t-SNE"] = knob(
        "PCA", choices=("PCA", "t-SNE"), why="PCA keeps large distances, t-SNE keeps neighbours."
    )


def measure(subject: Subject, settings: Settings) -> Finding:
    """Neighbours by cosine, and the map of the most frequent words by part of speech where the corpus knows it."""
    known, vectors = frequent_words(subject.corpus), word_vectors(subject.model)
    if len(known) < 12:
        raise UserError(f"The training text has {len(known)} words that occur 5 times; a map needs 12.")
    word = id_of(subject, settings.word) if settings.word else int(known[min(49, len(known) - 1)])
    subject.count(len(known), "words")
    others = known[known != word]
    found, cosines = nearest(vectors[[word]], vectors, others, settings.neighbours)
    spelt = subject.tokenizer.words
    listed = {"word": [spelt[k] for k in found[0].tolist()], "cosine": cosines[0].tolist()}
    classes, numbers = _classes(subject), ()
    if classes is not None:
        share, chance = _share_of_class(classes, vectors, known)
        numbers = (Number("neighbour of the same part of speech", share, "share of words", {"chance": chance}),)
    return Finding(
        f"The nearest neighbours of {spelt[word]!r} are {', '.join(listed['word'][:3])}.",
        numbers,
        (
            Table(f"Nearest to {spelt[word]}", listed, Bars("word", "cosine"), "cosine"),
            _map(subject, vectors, known[: settings.words], classes, settings.method),
        ),
    )


def _map(subject: Subject, vectors: Tensor, shown: Tensor, classes: Tensor | None, method: str) -> Table:
    x, names = normalize(vectors[shown], dim=-1), (*subject.corpus.label_names.get("pos", ()), "none")
    if method == "PCA":
        points = in_a_plane(x)
    else:
        from sklearn.manifold import TSNE

        seed, perplexity = derive(subject.seed, "t-SNE") % 2**32, min(30.0, (len(shown) - 1) / 3)
        points = TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(x.numpy())
    columns = {
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "word": [subject.tokenizer.words[k] for k in shown.tolist()],
        "part of speech": ["word"] * len(shown) if classes is None else [names[k] for k in classes[shown].tolist()],
    }
    return Table(f"The most frequent words by {method}", columns, Scatter("x", "y", "word", "part of speech"))


def _classes(subject: Subject) -> Tensor | None:
    """The most frequent part of speech of each word `[v]`, -1 for words that have none."""
    label = subject.corpus.labels.get("pos")
    if label is None:
        return None
    size, count, there = len(subject.tokenizer), len(subject.corpus.label_names["pos"]), label >= 0
    pairs = subject.corpus.ids[there].long() * count + label[there].long()
    table = torch.bincount(pairs, minlength=size * count).view(size, count)
    return table.argmax(1).where(table.sum(1) > 0, -1)


def _share_of_class(classes: Tensor, vectors: Tensor, known: Tensor) -> tuple[float, float]:
    """How often the nearest neighbour of a word has its part of speech, and how often any other word has it.

    Words without a part of speech are left out.
    """
    known = known[classes[known] >= 0]
    unit, own = normalize(vectors[known], dim=-1), classes[known]
    best = (unit @ unit.T).fill_diagonal_(-2.0).argmax(1)
    sizes = torch.bincount(own).double()
    chance = (sizes * (sizes - 1)).sum() / (len(own) * (len(own) - 1))
    return float((own[best] == own).double().mean()), float(chance)


NEIGHBOURS = Instrument(
    name="neighbours and map",
    group="Words",
    question="Which words are the nearest neighbours of a word, and which words form clusters on a map?",
    source="arXiv:1301.3781; t-SNE, van der Maaten and Hinton 2008",
    measure=measure,
    rows=("V21",),
    settings=Settings(),
)
