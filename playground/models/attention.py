"""Attention that looks only where visibility allows (Vaswani et al. 2017), with rotary positions (arXiv:2104.09864)."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from playground.batch import AttentionMask


@dataclass(frozen=True)
class SdpaMask:
    """A visibility made ready for all layers of one pass: nothing, a flag, or a mask `[b, 1, n, m]`.

    `odd_layers` is what every second layer obeys instead, where not all layers see alike.
    """

    mask: Tensor | None
    causal: bool
    odd_layers: "SdpaMask | None" = None

    @classmethod
    def of(cls, visible: AttentionMask) -> "SdpaMask":
        if visible.overrides is None and visible.form in ("full", "causal"):
            return cls(None, visible.form == "causal")
        above = None if visible.odd_layers is None else cls.of(visible.odd_layers)
        return cls(visible.dense()[:, None], False, above)

    def layer(self, number: int) -> "SdpaMask":
        """What a layer obeys, counted from 0."""
        return self if self.odd_layers is None or number % 2 == 0 else self.odd_layers

    def dense(self, shape: torch.Size) -> Tensor | None:
        """The mask as booleans, also where a flag would do."""
        if not self.causal:
            return self.mask
        return torch.ones(shape[-2:], dtype=torch.bool).tril()


EVERYWHERE = SdpaMask(None, False)
"""Every reader may look at everything."""


@dataclass(frozen=True)
class RotaryEmbedding:
    """Cosines and sines `[b or 1, 1, n, d / 2h]` that turn queries and keys by their positions."""

    cos: Tensor
    sin: Tensor

    @classmethod
    def of(cls, position: Tensor, width: int) -> "RotaryEmbedding":
        speed = 10_000.0 ** (-torch.arange(0, width, 2, device=position.device) / width)
        angle = position[:, None, :, None] * speed
        return cls(angle.cos(), angle.sin())

    def __call__(self, x: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=-1)
        return torch.cat([left * self.cos - right * self.sin, left * self.sin + right * self.cos], dim=-1)


Prefixed = Callable[[Tensor], Tensor]
"""What queries `[b, h, n, d / h]` gather from places before the text, beside the words (prefix tuning)."""


class Attention(nn.Module):
    """Readers `[b, n, d]` gather from what is read `[b, m, d]`; a reader that may see nobody gathers zero."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.prefix: Prefixed | None = None

    def forward(
        self,
        readers: Tensor,
        read: Tensor,
        allowed: SdpaMask,
        rotary: tuple[RotaryEmbedding, RotaryEmbedding] | None = None,
        weights: list[Tensor] | None = None,
    ) -> Tensor:
        """Gathered values `[b, n, d]`; with a `weights`, the weights `[b, h, n, m]` are appended to it."""
        q, k, v = self._split(self.query(readers)), self._split(self.key(read)), self._split(self.value(read))
        if rotary is not None:
            q, k = rotary[0](q), rotary[1](k)
        if weights is None:
            gathered = attend(q, k, v, allowed)
        else:
            weights.append(attention_weights(q, k, allowed))
            gathered = weights[-1] @ v
        if self.prefix is not None:
            gathered = gathered + self.prefix(q)
        return self.out(gathered.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def attend(q: Tensor, k: Tensor, v: Tensor, allowed: SdpaMask) -> Tensor:
    """What every reader gathers, `[b, h, n, d / h]`.

    A processor does it in float32 also where everything else has half the bits, which is several times faster there.
    """
    if q.dtype != torch.bfloat16 or q.device.type != "cpu":
        return scaled_dot_product_attention(q, k, v, attn_mask=allowed.mask, is_causal=allowed.causal)
    with torch.autocast("cpu", enabled=False):
        return attend(q.float(), k.float(), v.float(), allowed)


def attention_weights(q: Tensor, k: Tensor, allowed: SdpaMask) -> Tensor:
    """Attention weights `[b, h, n, m]`; every row sums to 1, or to 0 where nothing may be seen."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    mask = allowed.dense(scores.shape)
    if mask is None:
        return scores.softmax(dim=-1)
    mask = mask.to(scores.device)
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)
