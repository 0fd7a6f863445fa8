"""The lattice of all 2^T ways to hide words of a sentence: every loss of a masked model, and four sums of them.

Sets of hidden words are numbers whose bit i says that word i is hidden. The loss of word i in a set is
-log p(word i | the words outside the set). Masked language modelling at a rate (arXiv:1810.04805), mask-predict
(arXiv:1904.09324), masked diffusion (arXiv:2406.07524) and any-order prediction (arXiv:2110.02037) are weighted sums of
these losses, each read as nats of the whole sentence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb

import numpy as np
import torch
from torch import Tensor

from playground.analysis.cloze import ask_masked
from playground.analysis.predictions import one_row
from playground.batch import Action, Batch, Tokens, begin
from playground.corpora import pick
from playground.errors import UserError
from playground.models import LanguageModel
from playground.models.architecture import Architecture
from playground.tokenizing import Tokenizer

MOST = 12
"""Words of a sentence: 4,096 sets, which a tiny model reads in a second."""

AT_ONCE = 512
"""Sets that are read in one pass, so that their scores stay below a hundred megabytes."""


@dataclass(frozen=True)
class Order:
    """An order of prediction: positions in the order in which they are filled, and the loss of each step in nats."""

    positions: tuple[int, ...]
    losses: tuple[float, ...]

    @property
    def nats(self) -> float:
        return sum(self.losses)


@dataclass(frozen=True)
class Lattice:
    """The losses `[2^T, T]` of every word in every set of hidden words; 0 where the word is not hidden."""

    losses: np.ndarray

    @property
    def size(self) -> int:
        return self.losses.shape[1]

    @cached_property
    def hidden(self) -> np.ndarray:
        """Which words each set hides, `[2^T, T]`."""
        return (np.arange(len(self.losses))[:, None] >> np.arange(self.size)) & 1 == 1

    @cached_property
    def counts(self) -> np.ndarray:
        """How many words each set hides, `[2^T]`."""
        return self.hidden.sum(1)

    @cached_property
    def by_word(self) -> np.ndarray:
        """The mean loss of each word by the number of hidden words, `[T, T]`: row 0 hides one word."""
        rows = [self.counts == m for m in range(1, self.size + 1)]
        return np.array([self.losses[row].sum(0) / self.hidden[row].sum(0) for row in rows])

    def masked_at(self, rate: float) -> float:
        """MLM where each word is hidden with this chance: the summed loss over the hidden share, in expectation."""
        chance = rate ** (self.counts - 1.0) * (1 - rate) ** (self.size - self.counts)
        return float((chance * self.losses.sum(1))[1:].sum())

    def mask_predict(self) -> float:
        """As many hidden words as a die says, 1 to T: T times the mean loss of a hidden word (arXiv:1904.09324)."""
        draws = 1 / (self.size * np.array([comb(self.size, m) for m in self.counts[1:]]))
        return float((draws * self.size * self.losses[1:].sum(1) / self.counts[1:]).sum())

    def masked_diffusion(self) -> float:
        """MLM at a rate t that is drawn evenly from 0 to 1, each loss over t (arXiv:2406.07524, linear schedule).

        The integrand is a polynomial of degree T - 1 in t, so the quadrature is exact.
        """
        nodes, weights = np.polynomial.legendre.leggauss(self.size)
        values = [self.masked_at(float(node + 1) / 2) for node in nodes]
        return float(weights @ values) / 2

    def any_order(self) -> float:
        """The mean over all T! orders of the nats of the sentence (arXiv:2110.02037), by dynamic programming."""
        value = np.zeros(len(self.losses))
        for sets, steps in self._by_size(value):
            value[sets] = steps.sum(1) / self.counts[sets]
        return float(value[-1])

    def best_order(self) -> Order:
        """The order of prediction that gives the sentence the most probability."""
        return self._extreme(1.0)

    def worst_order(self) -> Order:
        """The order that gives it the least."""
        return self._extreme(-1.0)

    def in_order(self, positions: Sequence[int]) -> Order:
        """Words predicted in a given order, each from those before it in the order."""
        left = (1 << self.size) - 1
        losses = []
        for position in positions:
            losses.append(float(self.losses[left, position]))
            left ^= 1 << position
        return Order(tuple(positions), tuple(losses))

    def _extreme(self, sign: float) -> Order:
        value, choice = np.zeros(len(self.losses)), np.zeros(len(self.losses), dtype=int)
        for sets, steps in self._by_size(value):
            signed = np.where(self.hidden[sets], sign * steps, np.inf)
            choice[sets] = signed.argmin(1)
            value[sets] = sign * signed.min(1)
        left, positions = (1 << self.size) - 1, []
        while left:
            positions.append(int(choice[left]))
            left ^= 1 << positions[-1]
        return self.in_order(positions)

    def _by_size(self, value: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Sets by size, with the cost `[sets, T]` of predicting each hidden word first and then the rest by `value`."""
        for m in range(1, self.size + 1):
            sets = (self.counts == m).nonzero()[0]
            rest = sets[:, None] & ~(1 << np.arange(self.size))
            yield sets, np.where(self.hidden[sets], self.losses[sets] + value[rest], 0.0)


def not_masked(shape: Architecture) -> str:
    """Why a model fills no gaps from both sides at once, in a sentence; nothing where it does."""
    if shape.kind == "static":
        return "Static vectors do not read a sentence, so they cannot fill gaps in one."
    if shape.two_streams or shape.decoder_layers or shape.attention != "bidirectional":
        return "This needs a masked model such as BERT; this model has a decoder or reads from one side."
    return ""


@torch.no_grad()
def lattice_of(model: LanguageModel, ids: Sequence[int], tokenizer: Tokenizer) -> Lattice:
    """All losses of a sentence of at most 12 words in a masked model, which must be in evaluation mode."""
    size = len(ids)
    if not 1 <= size <= MOST:
        raise UserError(f"The sentence has {size} tokens; the lattice takes 1 to {MOST}.")
    if sentence := not_masked(model.shape):
        raise UserError(sentence)
    sets = (torch.arange(1 << size)[:, None] >> torch.arange(size)) & 1 == 1
    losses = torch.zeros(len(sets), size, dtype=torch.float64)
    device = model.token_embedding.weight.device
    text = one_row(list(ids), tokenizer).to(device)
    for rows in torch.arange(1, len(sets)).split(AT_ONCE):
        answer = model(_hidden(model, text, sets[rows].to(device)))[-1]
        found = answer.losses(consume=True).double().cpu()
        losses[rows[answer.rows.cpu()], answer.positions.cpu()] = found
    return Lattice(losses.numpy())


def _hidden(model: LanguageModel, text: Tokens, sets: Tensor) -> Batch:
    """One text with each of these sets of words hidden `[b, t]`, every hidden word asked for."""
    tokens = pick(text, torch.zeros(len(sets), dtype=torch.long, device=sets.device))
    return ask_masked(model.shape, replace(begin(tokens), selected=sets, actions=sets * int(Action.MASKED)))
