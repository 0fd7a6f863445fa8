"""Word vectors made of letters by convolutions (Kim et al., arXiv:1508.06615; ELMo, arXiv:1802.05365, sec. 3.4)."""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import relu

from playground.errors import UserError

LETTERS = 256
"""Bytes, as in ELMo's released code; 0 fills up."""

BEGIN, END = 2, 3
"""The bytes that mark the two ends of a word."""

LONGEST_WORD = 24
"""Bytes of a word that are read; the rest is left out."""

FILTERS = ((1, 0.25), (2, 0.25), (3, 0.5), (4, 0.5), (5, 0.5))
"""Width of each convolution, and the number of its filters as a share of the width of a word vector."""


class CharacterCNN(nn.Module):
    """The vector of every word of the vocabulary from its spelling: convolutions, maximum over positions, a highway."""

    spelling: Tensor

    def __init__(self, width: int, words: Sequence[str], letter_width: int = 16) -> None:
        super().__init__()
        if not words:
            raise UserError("Vectors computed from characters need the spelling of the words; give the vocabulary.")
        rows = [[BEGIN, *word.encode()[: LONGEST_WORD - 2], END] for word in words]
        longest = max(*map(len, rows), *(size for size, _ in FILTERS))
        self.register_buffer("spelling", torch.tensor([r + [0] * (longest - len(r)) for r in rows]), persistent=False)
        self.letter_embedding = nn.Embedding(LETTERS, letter_width)
        counts = [(size, max(1, round(share * width))) for size, share in FILTERS]
        self.convolutions = nn.ModuleList(nn.Conv1d(letter_width, number, size) for size, number in counts)
        total = sum(number for _, number in counts)
        self.gate, self.highway, self.projection = (
            nn.Linear(total, total),
            nn.Linear(total, total),
            nn.Linear(total, width),
        )

    @torch.no_grad()
    def init(self, rng: Generator) -> None:
        """Initialise as ELMo's released code does: at first the highway carries most of what comes in."""
        for layer in (self.gate, self.highway, self.projection):
            layer.weight.copy_(torch.randn(layer.weight.shape, generator=rng) * layer.in_features**-0.5)
        self.gate.bias.fill_(-2.0)
        limits = [(self.letter_embedding, 1.0), *((convolve, 0.05) for convolve in self.convolutions)]
        for layer, most in limits:
            weight = layer.get_parameter("weight")
            weight.copy_((torch.rand(weight.shape, generator=rng) * 2 - 1) * most)

    def forward(self) -> Tensor:
        """The vectors `[v, d]`."""
        letters = self.letter_embedding(self.spelling).transpose(1, 2)
        x = torch.cat([relu(convolve(letters)).amax(-1) for convolve in self.convolutions], dim=-1)
        gate = torch.sigmoid(self.gate(x))  # Srivastava et al., arXiv:1505.00387
        return self.projection(gate * relu(self.highway(x)) + (1 - gate) * x)
