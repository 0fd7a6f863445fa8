"""What a model that restores a text must find out: where words are missing, how many, and where the text begins."""

import torch
from torch import Tensor

from playground.batch import Batch
from playground.claims import Arm, Lab
from playground.claims.figures.text import answered
from playground.objectives import find_objective


def written(lab: Lab, arm: "Arm", seed: int, noise: str) -> tuple[Batch, Tensor]:
    """Held-out text under a noise, and the likeliest word `[b, n]` at each position, the right ones before it given."""
    subject = lab.subject(arm, seed)
    batch = find_objective(noise).batch(subject.held_out, subject.rng("noise"))
    answer = answered(subject, batch)
    assert batch.decoder is not None
    best = torch.full_like(batch.decoder.ids, -1)
    best[answer.rows, answer.positions] = answer.scores.argmax(-1)
    return batch, best


def gap_f1(batch: Batch, best: Tensor) -> float:
    """F1 of "a word is missing here": the model writes another word than the next one that is left of the text."""
    target, shown = batch.targets[0], batch.inputs
    length = batch.tokens.ids.shape[1]
    left = torch.zeros_like(batch.tokens.valid)
    rows, at = ((shown.origin >= 0) & (shown.ids != batch.tokens.specials.mask)).nonzero(as_tuple=True)
    left[rows, shown.origin[rows, at]] = True
    position = torch.arange(length).expand_as(left).where(left, length)
    following = position.flip(1).cummin(1).values.flip(1)  # the next position that is left, `length` at the end
    scored = target.loss_mask & (target.origin >= 0)
    origin = target.origin.clamp(min=0)
    nearest = following.gather(1, origin)
    word = batch.tokens.ids.gather(1, nearest.clamp(max=length - 1)).masked_fill(nearest == length, -1)
    guessed, missing = (best != word)[scored], ~left.gather(1, origin)[scored]
    hits = float((guessed & missing).sum())
    return 2 * hits / float(guessed.sum() + missing.sum())


def start_accuracy(batch: Batch, best: Tensor) -> float:
    """How often the first word that is written is the first of the text."""
    return float((best[:, 0] == batch.tokens.ids[:, 0]).float().mean())
