"""A glance at a model while it learns: one fixed sentence, its guesses and one attention head."""

import math
from dataclasses import dataclass

import torch

from playground.corpora import Corpus
from playground.example import Contrast, Count, Example, Taught, Tokens
from playground.frames import TITLES, words
from playground.models import LanguageModel
from playground.models.grading import Answer
from playground.objectives import Objective
from playground.seeds import generator
from playground.tokenizing import Tokenizer, typed

TOP = 4
"""Guesses that are kept for every graded position."""


@dataclass(frozen=True)
class Guess:
    """One graded position: where it is, the true answer, the likeliest answers with their probabilities."""

    position: int
    truth: str
    top: tuple[tuple[str, float], ...]
    probability: float


@dataclass(frozen=True)
class Glance:
    """What the model makes of the sentence at a step; `weights` are `[layers][h][n][m]` as bytes 0 to 255 by matrix."""

    step: int
    sees: tuple[str, ...]
    guesses: tuple[Guess, ...]
    weights: dict[str, torch.Tensor]
    rows: dict[str, tuple[str, ...]]
    columns: dict[str, tuple[str, ...]]


def sentence_of(corpus: Corpus, longest: int = 12) -> Tokens:
    """A held-out sentence to watch: the first one that is long enough to be interesting."""
    text = corpus.windows(min(64, max(16, longest * 3)), "held_out")
    row = 0
    number = text.sentence[row]
    counts = torch.bincount((number - number.min()).clamp(min=0))
    wanted = int(counts.clamp(max=longest).argmax()) + int(number.min())
    places = ((number == wanted) & (text.ids[row] >= text.specials.unknown)).nonzero().flatten()[:longest]
    return one_row(text.ids[row][places].tolist(), corpus.tokenizer)


def sentence_from(text: str, tokenizer: Tokenizer) -> Tokens:
    """A typed sentence to watch, in the vocabulary of a corpus."""
    return typed(text, tokenizer).tokens


def one_row(ids: list[int], tokenizer: Tokenizer) -> Tokens:
    """Ids as a batch of one text."""
    row = torch.tensor([ids])
    places = torch.arange(len(ids))[None]
    return Tokens(
        row, torch.tensor([len(ids)]), places, torch.zeros_like(row), tokenizer.specials,
        vocabulary=tokenizer.words, padded=False,
    )  # fmt: skip


@torch.no_grad()
def glance(model: LanguageModel, objective: Objective, step: int, sentence: Tokens, seed: int = 0) -> Glance:
    """One forward pass over the sentence with always the same corruption, weights and guesses from the same pass."""
    device = model.table.weight.device
    rng = generator(seed, "glance", device=device.type)
    example = objective.example(sentence.to(device), rng)
    taps: dict[str, list[torch.Tensor]] = {}
    answers = model.answers(example, taps)
    last = answers[-1]
    guesses = tuple(_guess(example, last, k) for k in range(len(last.targets)))
    weights = {name: (torch.stack(layers)[:, 0] * 255).round().to(torch.uint8).cpu() for name, layers in taps.items()}
    stands = words(example.inputs.ids[0], example.inputs.real[0], sentence.vocabulary)
    wrote = _decoder_words(example)
    rows = {"decoder": wrote, "cross": wrote}
    columns = {"decoder": wrote}
    return Glance(
        step,
        tuple(stands),
        guesses,
        weights,
        {name: tuple(rows.get(name, stands)) for name in weights},
        {name: tuple(columns.get(name, stands)) for name in weights},
    )


def _decoder_words(example: Example) -> list[str]:
    if example.decoder is None:
        return []
    return words(example.decoder.ids[0], example.decoder.real[0], example.tokens.vocabulary)


def _guess(example: Example, answer: Answer, k: int) -> Guess:
    place = int(answer.places[k])
    if isinstance(answer.question.against, Count):
        return _counted(answer, k)
    if answer.question.head == "replaced":
        target = int(answer.targets[k])
        share = float(answer.scores[k, 0].sigmoid())
        top = sorted((("replaced", share), ("original", 1 - share)), key=lambda pair: -pair[1])
        return Guess(place, "replaced" if target else "original", tuple(top), share if target else 1 - share)
    names, right = _columns(example, answer, k)
    shares = answer.scores[k].softmax(-1)
    best = shares.topk(min(TOP, len(shares)))
    top = tuple((names[i], float(p)) for i, p in zip(best.indices.tolist(), best.values, strict=True))
    return Guess(place, names[right], top, float(shares[right]))


def _columns(example: Example, answer: Answer, k: int) -> tuple[tuple[str, ...], int]:
    """What each score of an answer stands for, and the number of the right one."""
    question, target, vocabulary = answer.question, answer.targets[k], example.tokens.vocabulary
    match question.against:
        case Taught():
            return question.classes, int(target.argmax())
        case Contrast() as contrast:
            drawn = contrast.wrong[answer.rows[k], answer.places[k]].tolist()
            return tuple(vocabulary[i] if i >= 0 else "–" for i in (int(target), *drawn)), 0
    if question.head == "match":
        missing = [example.tokens.ids[r][example.chosen[r]].tolist() for r in answer.rows.tolist()]
        return tuple(" ".join(vocabulary[i] for i in ids) for ids in missing), int(target)
    return question.classes or vocabulary, int(target)


def _counted(answer: Answer, k: int) -> Guess:
    """A count that is guessed; the smaller share of the larger stands for its probability."""
    assert isinstance(answer.question.against, Count)
    row, place = int(answer.rows[k]), int(answer.places[k])
    seen, said = float(answer.question.against.seen[row, place]), math.exp(min(float(answer.scores[k, 0]), 50.0))
    return Guess(place, f"{seen:.2f} times", ((f"{said:.2f} times", 1.0),), min(seen, said) / max(seen, said))


def title(matrix: str) -> str:
    """The name of a matrix for a person."""
    return TITLES[matrix]
