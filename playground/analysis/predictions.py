"""What a model predicts for one batch: its predictions, losses and attention weights, of one forward pass."""

from dataclasses import dataclass

import torch

from playground.answers import Answer
from playground.batch import Batch, Tokens, token_strings
from playground.corpora import Corpus
from playground.devices import on_cpu
from playground.errors import UnfitModel, UserError
from playground.models import LanguageModel
from playground.models.model import stacked
from playground.objectives import Objective
from playground.objectives.bind import with_generator
from playground.rng import generator
from playground.tokenizing import Tokenizer

TOP = 5
"""Answers that are kept for every scored position."""


@dataclass(frozen=True)
class Prediction:
    """One scored position: the true answer, the likeliest ones, the probability of the true one, its loss and unit.

    In the loss that is trained it counts `weight` times; its answers are ranked by `measure`, a probability for most.
    """

    position: int
    truth: str
    top: tuple[tuple[str, float], ...]
    probability: float
    loss: float
    target: str
    reader: str
    unit: str = "nats"
    weight: float = 1.0
    measure: str = "probability"

    @property
    def right(self) -> bool:
        """Whether the likeliest answer is the true one."""
        return bool(self.top) and self.top[0][0] == self.truth


@dataclass(frozen=True)
class ForwardTrace:
    """One forward pass over a row: `weights` `[layers][h][n][m]` as bytes by matrix, `losses` by target.

    `averaged_over` is the number of positions that the main target's loss is a mean over, where not the scored ones.
    `unscored` says in a sentence why there are no predictions, where the model lacks the head for them.
    """

    weights: dict[str, torch.Tensor]
    guesses: tuple[Prediction, ...]
    losses: dict[str, float]
    unscored: str = ""
    averaged_over: int = 0


@dataclass(frozen=True)
class Predictions:
    """The forward pass over a watched sentence at a step; `rows` and `columns` label the `weights` (`ForwardTrace`).

    `unscored` says why there are no predictions, as there.
    """

    step: int
    sees: tuple[str, ...]
    guesses: tuple[Prediction, ...]
    weights: dict[str, torch.Tensor]
    rows: dict[str, tuple[str, ...]]
    columns: dict[str, tuple[str, ...]]
    unscored: str = ""


def sentence_of(corpus: Corpus, longest: int = 12) -> Tokens:
    """A held-out sentence to watch: the first one with enough words, in a mixture one of the own text."""
    there = len(corpus) - corpus.held_out_from
    text = corpus.windows(max(1, min(64, max(16, longest * 3), there)), "held_out", in_order=True)
    number = text.sentence_ids[0]
    counts = torch.bincount((number - number.min()).clamp(min=0))
    chosen = int(counts.clamp(max=longest).argmax()) + int(number.min())
    positions = ((number == chosen) & text.specials.in_text(text.ids[0])).nonzero().flatten()[:longest]
    return one_row(text.ids[0][positions].tolist(), corpus.tokenizer)


def one_row(ids: list[int], tokenizer: Tokenizer) -> Tokens:
    """Ids as a batch of one text."""
    row, lengths, positions = torch.tensor([ids]), torch.tensor([len(ids)]), torch.arange(len(ids))[None]
    words = tokenizer.words
    return Tokens(row, lengths, positions, torch.zeros_like(row), tokenizer.specials, vocabulary=words, padded=False)


def watched(model: LanguageModel, objective: Objective, sentence: Tokens, seed: int = 0) -> Batch:
    """The batch of a watched sentence: the same corruption every time."""
    device = model.token_embedding.weight.device
    return objective.batch(sentence.to(device), generator(seed, "glance", device=device))


@torch.no_grad()
def read(model: LanguageModel, batch: Batch, row: int = 0) -> ForwardTrace:
    """One forward pass: weights, predictions and losses of a row."""
    device = model.token_embedding.weight.device
    if unscored := model.unscored(batch):
        return ForwardTrace(on_cpu(_row_of(model.attention(batch), row), device), (), {}, unscored)
    taps: dict[str, list[torch.Tensor]] = {}
    answers = model(batch, taps)
    weights = _row_of(stacked(taps), row)
    batch, answers, weights = on_cpu((batch, answers, weights), device)
    here = [(answer, answer.losses(), (answer.rows == row).nonzero()[:, 0].tolist()) for answer in answers]
    own, over = here[len(here) - len(batch.targets) :], batch.targets[0].mean_over
    return ForwardTrace(
        weights,
        tuple(_prediction(batch, answer, k, float(losses[k])) for answer, losses, positions in own for k in positions),
        {answer.target.name: float(answer.row_means()[row]) for answer, _, positions in here if positions},
        averaged_over=0 if over is None else int(over[row].sum()),
    )


def with_generator_of(objective: Objective, model: LanguageModel) -> Objective:
    """The objective with this model's generator, where the objective needs one."""
    return with_generator(objective, model.propose) if model.shape.generator_ratio else objective


def ask(model: LanguageModel, batch: Batch, objective: Objective, name: str) -> ForwardTrace:
    """The same of the batch of any objective; a model of this name that cannot answer it is refused."""
    try:
        return read(model, batch)
    except UserError as refusal:
        why = f"{refusal.reason}." if isinstance(refusal, UnfitModel) else str(refusal)
        raise UserError(f"{name} cannot answer {objective.name} here: {why} Train a small model that can.") from refusal


def _row_of(weights: dict[str, torch.Tensor], row: int) -> dict[str, torch.Tensor]:
    return {name: (layers[:, row] * 255).round().to(torch.uint8) for name, layers in weights.items()}


def glance(model: LanguageModel, objective: Objective, step: int, sentence: Tokens, seed: int = 0) -> Predictions:
    """One forward pass over a watched sentence, always with the same corruption."""
    return glance_at(model, watched(model, objective, sentence, seed), step)


def glance_at(model: LanguageModel, batch: Batch, step: int) -> Predictions:
    """The same of a sentence that is corrupted already."""
    seen = read(model, batch)
    inputs, decoder = (
        () if s is None else tuple(token_strings(s.ids[0], s.valid[0], batch.tokens.vocabulary))
        for s in (batch.inputs, batch.decoder)
    )
    rows = {name: decoder if name in ("decoder", "cross") else inputs for name in seen.weights}
    columns = {name: decoder if name == "decoder" else inputs for name in seen.weights}
    return Predictions(step, inputs, seen.guesses, seen.weights, rows, columns, seen.unscored)


def _prediction(batch: Batch, answer: Answer, k: int, loss: float) -> Prediction:
    target = answer.target
    truth, top, probability = target.kind.prediction(batch, answer, k, TOP)
    asked = target.name, target.stream, target.kind.unit
    weight = 1.0 if target.loss_weights is None else float(answer.at(target.loss_weights)[k])
    return Prediction(int(answer.positions[k]), truth, top, probability, loss, *asked, weight, target.kind.measure)
