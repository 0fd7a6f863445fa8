"""Layers for the words after the next one, which only pre-training reads (multi-token prediction)."""

import torch
from torch import Tensor, nn

from playground.models.architecture import Architecture
from playground.models.positions import PositionEncoding
from playground.models.transformer import Block, SdpaMask, make_norm


class FurtherBlock(nn.Module):
    """One transformer layer on the shared trunk (Gloeckle et al., arXiv:2404.19737, sec. 2).

    In the sequential form it reads the states `[b, n, d]` of the module before and the vectors of the next tokens, both
    under an RMS norm and projected together (DeepSeek-V3, arXiv:2412.19437, sec. 2.2).
    """

    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.block = Block(shape, shape.width)
        if shape.mtp_sequential:
            self.ln_hidden, self.ln_token = nn.RMSNorm(shape.width), nn.RMSNorm(shape.table_width)
            self.projection = nn.Linear(shape.width + shape.table_width, shape.width, bias=False)
            self.ln_f = make_norm(shape, shape.width) if shape.norm_first else nn.Identity()

    def forward(
        self,
        hidden: Tensor,
        allowed: SdpaMask,
        positions: PositionEncoding | None,
        token: Tensor | None = None,
        weights: list[Tensor] | None = None,
    ) -> Tensor:
        """The states `[b, n, d]`; a module of the sequential form also reads the vectors `token` `[b, n, w]`."""
        if token is None:
            return self.block(hidden, allowed, positions, weights)
        both = torch.cat([self.ln_hidden(hidden), self.ln_token(token)], dim=-1)  # [b, n, d + w]
        return self.ln_f(self.block(self.projection(both), allowed, positions, weights))


def shifted(ids: Tensor, number: int) -> Tensor:
    """The ids `[b, n]` so many positions further on; the last ones, which nothing follows, keep the last id."""
    return torch.cat([ids[:, number:], ids[:, -1:].expand(-1, min(number, ids.shape[1]))], dim=1)[:, : ids.shape[1]]
