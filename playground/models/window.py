"""Feed-forward window networks: the vectors of a few neighbouring words, side by side under a hidden layer with tanh.

Bengio et al. 2003, eq. 1, reads the words to the left; Collobert and Weston 2008, sec. 3, the words on both sides.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from playground.batch import AttentionMask, Stream
from playground.errors import UnfitModel
from playground.models.architecture import Architecture
from playground.models.dropout import Dropout
from playground.models.positions import PositionEncoding


def side_by_side(x: Tensor, cells: Tensor, boundary: Tensor, offsets: range) -> Tensor:
    """What stands at each offset from each position of `x` `[b, n, d]`, `[b, n, o, d]`.

    The vector `boundary` `[d]` stands for what lies beyond the text or is closed in the mask `cells` `[b or 1, n, n]`.
    """
    n = x.shape[1]
    position = torch.arange(n, device=x.device)[:, None] + torch.arange(offsets.start, offsets.stop, device=x.device)
    at = position.clamp(0, n - 1)
    allowed = cells.expand(len(x), -1, -1).gather(2, at.expand(len(x), -1, -1)) & (position == at)
    return torch.where(allowed[..., None], x[:, at], boundary)


def narrowed(stream: Stream, radius: int) -> AttentionMask:
    """A mask of at most `radius` positions to a side."""
    position = torch.arange(stream.ids.shape[1], device=stream.ids.device).expand_as(stream.ids)
    mask = stream.attn_mask
    return AttentionMask(mask.query_level, mask.key_level, window=(position - radius, position + radius))


class WindowLayer(nn.Module):
    """One hidden layer with tanh over the vectors of a window side by side."""

    def __init__(self, shape: Architecture, width: int) -> None:
        super().__init__()
        self.offsets = shape.window_offsets
        self.boundary = nn.Parameter(torch.zeros(width))
        self.fc = nn.Linear(len(self.offsets) * width, width)

    def forward(self, x: Tensor, allowed: AttentionMask) -> Tensor:
        """The states `[b, n, d]`."""
        return torch.tanh(self.fc(side_by_side(x, allowed.dense(), self.boundary, self.offsets).flatten(2)))


class WindowStack(nn.Module):
    """Window layers on top of each other, with the methods of a transformer's `Stack`; a window has the positions."""

    def __init__(self, shape: Architecture, layers: int, width: int) -> None:
        super().__init__()
        self.radius = shape.window_radius
        self.blocks = nn.ModuleList(WindowLayer(shape, width) for _ in range(layers))
        self.dropout = Dropout(shape.dropout) if shape.dropout else None

    def hidden_states(
        self, x: Tensor, allowed: AttentionMask, positions: PositionEncoding | None, first: int, last: int
    ) -> list[Tensor]:
        """The levels `first` to `last`, `[b, n, d]`: 0 the embeddings, k layer k."""
        if allowed.window is None and x.shape[1] > self.radius + 1:
            raise UnfitModel(
                f"The attention mask opens {x.shape[1]} positions, but this window network reads {self.radius} to a "
                "side",
                "set sliding_window, or kind to transformer",
            )
        levels = [x]
        for depth, layer in enumerate(self.blocks[first:last], first):
            below = self.dropout(levels[-1]) if self.dropout is not None and depth else levels[-1]
            levels.append(layer(below, allowed.layer(depth)))
        return levels


class WindowHead(nn.Module):
    """One score for a window with a word in its middle (Collobert and Weston 2008, sec. 5).

    The states `[k, d]` are what the words around say to the hidden layer; the word itself is added to them under tanh.
    """

    bias: nn.Parameter | None = None

    def __init__(self, width: int) -> None:
        super().__init__()
        self.centre, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, 1, bias=False)

    def forward(self, hidden: Tensor, table: Tensor, bias: Tensor | None = None) -> Tensor:
        """Scores `[k, v]` of the windows with every word."""
        return self.out(torch.tanh(hidden[:, None] + self.centre(table)))[..., 0]

    def score_candidates(self, hidden: Tensor, words: Tensor, table: Callable[[Tensor], Tensor]) -> Tensor:
        """Scores `[k, w]` of the windows with some words `[k, w]`."""
        return self.out(torch.tanh(hidden[:, None] + self.centre(table(words))))[..., 0]

    log_counts = score_candidates
