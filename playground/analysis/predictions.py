"""A glance at a model while it learns: one fixed sentence, its guesses and one attention head."""

import math
from dataclasses import dataclass

import torch

from playground.batch import (
    MASK_TITLES,
    Batch,
    CooccurrenceTarget,
    NegativeSampling,
    SoftTargets,
    Tokens,
    token_strings,
)
from playground.corpora import Corpus
from playground.models import LanguageModel
from playground.models.losses import Answer
from playground.objectives import Objective
from playground.rng import generator
from playground.tokenizing import Tokenizer, read_input

TOP = 5
"""Guesses that are kept for every scored position."""


@dataclass(frozen=True)
class Prediction:
    """One scored position: where it is, the true answer, the likeliest answers with their probabilities.

    `loss` is what the answer costs in nats; `question` and `reader` say what was asked, and of which stream.
    """

    position: int
    truth: str
    top: tuple[tuple[str, float], ...]
    probability: float
    loss: float
    question: str
    reader: str


@dataclass(frozen=True)
class ForwardTrace:
    """What one pass of a model makes of one row of an example: every number of it is the model's own.

    `weights` are `[layers][h][n][m]` as bytes 0 to 255 by matrix; `losses` the mean of every question over the row, in
    nats, those of the networks beside included.
    """

    weights: dict[str, torch.Tensor]
    guesses: tuple[Prediction, ...]
    losses: dict[str, float]


@dataclass(frozen=True)
class Predictions:
    """What the model makes of the sentence at a step; `weights` are `[layers][h][n][m]` as bytes 0 to 255 by matrix."""

    step: int
    sees: tuple[str, ...]
    guesses: tuple[Prediction, ...]
    weights: dict[str, torch.Tensor]
    rows: dict[str, tuple[str, ...]]
    columns: dict[str, tuple[str, ...]]


def sentence_of(corpus: Corpus, longest: int = 12) -> Tokens:
    """A held-out sentence to watch: the first one that is long enough to be interesting."""
    there = len(corpus) - corpus.held_out_from
    text = corpus.windows(max(1, min(64, max(16, longest * 3), there)), "held_out")
    row = 0
    number = text.sentence_ids[row]
    counts = torch.bincount((number - number.min()).clamp(min=0))
    wanted = int(counts.clamp(max=longest).argmax()) + int(number.min())
    places = ((number == wanted) & (text.ids[row] >= text.specials.unknown)).nonzero().flatten()[:longest]
    return one_row(text.ids[row][places].tolist(), corpus.tokenizer)


def sentence_from(text: str, tokenizer: Tokenizer) -> Tokens:
    """A typed sentence to watch, in the vocabulary of a corpus."""
    return read_input(text, tokenizer).tokens


def one_row(ids: list[int], tokenizer: Tokenizer) -> Tokens:
    """Ids as a batch of one text."""
    row = torch.tensor([ids])
    places = torch.arange(len(ids))[None]
    return Tokens(
        row, torch.tensor([len(ids)]), places, torch.zeros_like(row), tokenizer.specials,
        vocabulary=tokenizer.words, padded=False,
    )  # fmt: skip


def watched(model: LanguageModel, objective: Objective, sentence: Tokens, seed: int = 0) -> Batch:
    """The sentence as the model is always asked it: the same corruption every time."""
    device = model.token_embedding.weight.device
    return objective.example(sentence.to(device), generator(seed, "glance", device=device.type))


@torch.no_grad()
def read(model: LanguageModel, example: Batch, row: int = 0) -> ForwardTrace:
    """One forward pass: weights, guesses and losses of a row come from the very same numbers."""
    taps: dict[str, list[torch.Tensor]] = {}
    answers = model(example, taps)
    here = [(answer, answer.losses(), (answer.rows == row).nonzero()[:, 0].tolist()) for answer in answers]
    own = here[len(here) - len(example.questions) :]
    return ForwardTrace(
        {name: (torch.stack(layers)[:, row] * 255).round().to(torch.uint8).cpu() for name, layers in taps.items()},
        tuple(_guess(example, answer, k, float(losses[k])) for answer, losses, places in own for k in places),
        {answer.target.name: float(losses[places].mean()) for answer, losses, places in here if places},
    )


def glance(model: LanguageModel, objective: Objective, step: int, sentence: Tokens, seed: int = 0) -> Predictions:
    """One forward pass over the sentence with always the same corruption, weights and guesses from the same pass."""
    return glance_at(model, watched(model, objective, sentence, seed), step)


def glance_at(model: LanguageModel, example: Batch, step: int) -> Predictions:
    """The same of a sentence that is corrupted already."""
    seen = read(model, example)
    stands = token_strings(example.inputs.ids[0], example.inputs.valid[0], example.tokens.vocabulary)
    wrote = _decoder_words(example)
    rows = {"decoder": wrote, "cross": wrote}
    columns = {"decoder": wrote}
    return Predictions(
        step,
        tuple(stands),
        seen.guesses,
        seen.weights,
        {name: tuple(rows.get(name, stands)) for name in seen.weights},
        {name: tuple(columns.get(name, stands)) for name in seen.weights},
    )


def _decoder_words(example: Batch) -> list[str]:
    if example.decoder is None:
        return []
    return token_strings(example.decoder.ids[0], example.decoder.valid[0], example.tokens.vocabulary)


def _guess(example: Batch, answer: Answer, k: int, loss: float) -> Prediction:
    truth, top, probability = _said(example, answer, k)
    return Prediction(int(answer.positions[k]), truth, top, probability, loss, answer.target.name, answer.target.stream)


def _said(example: Batch, answer: Answer, k: int) -> tuple[str, tuple[tuple[str, float], ...], float]:
    """The true answer, the likeliest answers with their probabilities, and the probability of the true one."""
    if isinstance(answer.target.loss, CooccurrenceTarget):
        return _counted(answer, k)
    if answer.target.head == "replaced":
        target = int(answer.targets[k])
        share = float(answer.scores[k, 0].sigmoid())
        top = sorted((("replaced", share), ("original", 1 - share)), key=lambda pair: -pair[1])
        return "replaced" if target else "original", tuple(top), share if target else 1 - share
    names, right = _columns(example, answer, k)
    shares = answer.scores[k].softmax(-1)
    best = shares.topk(min(TOP, len(shares)))
    top = tuple((names[i], float(p)) for i, p in zip(best.indices.tolist(), best.values, strict=True))
    return names[right], top, float(shares[right])


def _columns(example: Batch, answer: Answer, k: int) -> tuple[tuple[str, ...], int]:
    """What each score of an answer stands for, and the number of the right one."""
    question, target, vocabulary = answer.target, answer.targets[k], example.tokens.vocabulary
    match question.loss:
        case SoftTargets():
            return question.classes, int(target.argmax())
        case NegativeSampling() as contrast:
            drawn = contrast.negatives[answer.rows[k], answer.positions[k]].tolist()
            return tuple(vocabulary[i] if i >= 0 else "–" for i in (int(target), *drawn)), 0
    if question.head == "match":
        missing = [example.tokens.ids[r][example.selected[r]].tolist() for r in answer.rows.tolist()]
        return tuple(" ".join(vocabulary[i] for i in ids) for ids in missing), int(target)
    return question.classes or vocabulary, int(target)


def _counted(answer: Answer, k: int) -> tuple[str, tuple[tuple[str, float], ...], float]:
    """A count that is guessed; the smaller share of the larger stands for its probability."""
    assert isinstance(answer.target.loss, CooccurrenceTarget)
    row, place = int(answer.rows[k]), int(answer.positions[k])
    seen, said = float(answer.target.loss.counts[row, place]), math.exp(min(float(answer.scores[k, 0]), 50.0))
    return f"{seen:.2f} times", ((f"{said:.2f} times", 1.0),), min(seen, said) / max(seen, said)


def title(matrix: str) -> str:
    """The name of a matrix for a person."""
    return MASK_TITLES[matrix]
