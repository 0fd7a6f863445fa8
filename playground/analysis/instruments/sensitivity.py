"""Which word influences which state: gradients of states by word vectors (saliency, arXiv:1312.6034, for sentences)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground import leaks
from playground.analysis.finding import Finding, Matrix, Number, Table
from playground.analysis.gradients import sensitivity_of_answers, sensitivity_of_text
from playground.analysis.instrument import Instrument
from playground.analysis.subject import Subject
from playground.batch import Batch, Stream, Tokens, token_strings
from playground.errors import UserError
from playground.knob import knob
from playground.models import LanguageModel

LAST, TEXT, EXAMPLE = 13, "a plain text", "a training example"


@dataclass(frozen=True)
class Settings:
    """What is read, and which states are followed."""

    sentence: str = knob("", why="A sentence of your own; empty for one of the held-out text.")
    read: str = knob(
        TEXT, choices=(TEXT, EXAMPLE), why="As the finished model reads, or with the masks and gaps of its training."
    )
    level: int = knob(LAST, 0, LAST, unit="level", why="Level of a plain text: 0 the word vectors, 1 the first layer.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """The influence of every word on every state, beside what the attention masks allow."""
    influence, queries, keys, closed = (_of_text if settings.read == TEXT else _of_example)(subject, settings)
    length = len(keys)
    zeros, cells = int((influence == 0).sum()), influence.numel()
    columns = {
        "state": [query for query in queries for _ in range(length)],
        "word": [key for _ in queries for key in keys],
        "influence": influence.flatten().tolist(),
        "shown": [f"{value:.1g}" if value else "0" for value in influence.flatten().tolist()],
    }
    if zeros == 0:
        said = "Every state depends on every word."
    elif len(queries) == length and bool((influence == influence.diag().diag()).all()):
        said = "Every state depends on its own word alone."
    else:
        said = f"{zeros} of {cells} pairs of a word and a state have exactly no influence."
    return Finding(
        said,
        (Number("pairs without influence", zeros / cells, "share of the pairs", {"closed by the masks": closed}),),
        (
            Table(
                "Influence of each word on each state", columns, Matrix("state", "word", "influence", text="shown"),
                unit="size of the gradient", note="A 0 is exact.",
            ),
        ),
    )  # fmt: skip


Influence = tuple[Tensor, list[str], list[str], float]
"""Influences `[n, m]`, the labels of their rows and columns, and the share of pairs that the masks close."""


def _of_text(subject: Subject, settings: Settings) -> Influence:
    """The states of a plain text."""
    tokens, model = subject.sentence(settings.sentence), subject.model
    level = min(settings.level, len(subject.levels) - 1)
    influence = sensitivity_of_text(model, tokens, level)
    words = _numbered(token_strings(tokens.ids[0], tokens.valid[0], tokens.vocabulary))
    return influence, words, words, float((~open_pairs(model, tokens, level)).float().mean())


def open_pairs(model: LanguageModel, tokens: Tokens, level: int) -> Tensor:
    """Which words reach which states of a plain text after so many layers, `[t, t]`, by the closure of the masks."""
    shape = model.shape
    layers = 0 if shape.kind == "static" else min(level, shape.layers)
    if shape.recurrent and layers:  # one layer reads all that stands on a side
        layers = tokens.ids.shape[1]
    return torch.stack([leaks.climb(plain.attn_mask, 0, layers) for _, plain in model._readings(tokens)]).any(0)


def _of_example(subject: Subject, settings: Settings) -> Influence:
    """The scored positions of a training example; the masks of that example say what is closed."""
    if subject.model.shape.char_cnn:
        raise UserError(
            "This model computes word vectors from characters, which words share; set read to a plain text."
        )
    if subject.objective.needs:
        raise UserError("The objective needs more than one sentence; set read to a plain text.")
    batch = subject.objective.batch(subject.sentence(settings.sentence), subject.rng("sensitivity"))
    batch = subject.model.masked(batch)
    target = batch.targets[0]
    influence, scored = sensitivity_of_answers(subject.model, batch, target), target.loss_mask[0]
    reach, _ = leaks.answering(batch, target, subject.model.shape.layers)
    rows = [label for label, kept in zip(_labels(batch.stream_of(target), batch), scored, strict=True) if kept]
    return influence[scored], rows, _labels(batch.inputs, batch), float((~reach[scored]).float().mean())


def _labels(stream: Stream, batch: Batch) -> list[str]:
    return _numbered(token_strings(stream.ids[0], torch.ones_like(stream.valid[0]), batch.tokens.vocabulary))


def _numbered(words: list[str]) -> list[str]:
    return [f"{k + 1} {word}" for k, word in enumerate(words)]


SENSITIVITY = Instrument(
    name="sensitivity",
    group="Influence",
    question="Which word influences which state?",
    source="gradients after arXiv:1312.6034; the closure of the attention masks is that of the leak check",
    measure=measure,
    rows=("V40",),
    settings=Settings(),
)
