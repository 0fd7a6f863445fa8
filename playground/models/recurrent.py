"""Recurrent stacks: LSTM or GRU in one direction or both, and a decoder that attends to what was read.

They read in the order that an attention mask allows (`reading_order.py`).
"""

from functools import partial
from typing import cast

import torch
from torch import Generator, Tensor, nn
from torch.func import functional_call
from torch.nn.functional import pad, relu

from playground.batch import AttentionMask
from playground.errors import UnfitModel
from playground.models.architecture import Architecture, need
from playground.models.dropout import Dropout
from playground.models.positions import PositionEncoding
from playground.models.reading_order import ReadingOrder
from playground.models.transformer import SdpaMask, Weights, attention_weights

CELLS: dict[str, type[nn.LSTM | nn.GRU]] = {"lstm": nn.LSTM, "gru": nn.GRU}
"""The layers by the kind of an architecture (Hochreiter and Schmidhuber 1997; Cho et al., arXiv:1406.1078)."""


class RecurrentLayer(nn.Module):
    """One layer: as wide as its input in one direction, half as wide in each of two, whose states are joined.

    `beside` are the numbers of what else it reads at every position.
    Where the mask allows one direction only, the states of the other are 0.
    """

    def __init__(self, shape: Architecture, width: int, both: bool, beside: int = 0) -> None:
        super().__init__()
        make, half = partial(CELLS[shape.kind], width + beside), width // 2 if both else width
        self.weight_drop = Dropout(shape.weight_drop) if shape.weight_drop else None
        leftwards = shape.attention == "right to left"
        self.forward_rnn = make(half, batch_first=True) if both or not leftwards else None
        self.backward_rnn = make(half, batch_first=True) if both or leftwards else None

    def forward(self, x: Tensor, order: ReadingOrder, initial: tuple[Tensor, ...] | None = None) -> Tensor:
        """The states `[r, t, d]` of all stretches; `initial` are those `[1, r, d]` in front of them, by default 0."""
        alone = not (order.leftwards or order.rightwards)  # one word is all there is to read from either side
        forward, backward, first = self.forward_rnn, self.backward_rnn, "needs a network that reads from"
        need(forward or not order.leftwards, f"{first} left to right", "attention to left to right or bidirectional")
        need(backward or not order.rightwards, f"{first} right to left", "attention to bidirectional")
        sides = [] if forward is None else [self.run(forward, x, order.leftwards or alone, initial)]
        if backward is not None:
            sides.append(order.turn(self.run(backward, order.turn(x), order.rightwards or alone)))
        return torch.cat(sides, dim=-1)

    def run(self, rnn: nn.RNNBase, x: Tensor, reads: bool, initial: tuple[Tensor, ...] | None = None) -> Tensor:
        """The states of one direction; with weight drop some connections between states are left out (AWD-LSTM)."""
        if not reads:
            return x.new_zeros(*x.shape[:2], rnn.hidden_size)
        begins = initial if initial is None or isinstance(rnn, nn.LSTM) else initial[0]
        if self.weight_drop is None or self.weight_drop.rng is None:
            return rnn(x, begins)[0]
        return functional_call(rnn, {"weight_hh_l0": self.weight_drop(rnn.weight_hh_l0)}, (x, begins))[0]


class RecurrentStack(nn.Module):
    """Layers on top of each other, with the methods of a transformer's `Stack`; positions are known by counting.

    `crosses` gives a decoder, whose last state attends to what was read (Luong et al., arXiv:1508.04025, sec. 3.1,
    "general"). With `max_pooling` the first state of a text that is read from both sides is the maximum over all
    (InferSent, arXiv:1705.02364, sec. 3.1); the mean of what a decoder's mask opens is then an input of its first layer
    at every position and makes the initial states of all layers (LASER, arXiv:1812.10464, fig. 1). With two streams a
    word's state is made of those of its left and its right side (context2vec, sec. 2).
    """

    def __init__(self, shape: Architecture, layers: int, width: int, crosses: bool = False) -> None:
        super().__init__()
        both = shape.attention == "bidirectional" and not crosses
        reads = shape if not crosses else shape.reading("left to right")
        fed = crosses and shape.max_pooling
        self.blocks = nn.ModuleList(
            RecurrentLayer(reads, width, both, beside=width if fed and not depth else 0) for depth in range(layers)
        )
        self.dropout = Dropout(shape.dropout) if shape.dropout else None
        self.max_pooling = shape.max_pooling
        if fed:
            states = 2 if shape.kind == "lstm" else 1
            self.initial = nn.ModuleList(nn.Linear(width, states * width) for _ in range(layers))
        elif crosses:
            self.score = nn.Linear(width, width, bias=False)
            self.combine = nn.Linear(2 * width, width, bias=False)
        if shape.two_streams and both:
            self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)

    def hidden_states(
        self, x: Tensor, allowed: AttentionMask, positions: PositionEncoding | None, first: int, last: int
    ) -> list[Tensor]:
        """The levels `first` to `last`, `[b, n, d]`: 0 the embeddings, k layer k."""
        order = ReadingOrder.of(allowed, len(x))
        levels, inner = [x], order.split(x)
        for depth, layer in enumerate(self.blocks[first:last], first):
            inner = layer(self.dropout(inner) if self.dropout is not None and depth else inner, order)
            levels.append(order.join(inner))
        if self.max_pooling and order.leftwards and order.rightwards and last == len(self.blocks):
            levels[-1] = order.join(order.pool(inner))
        return levels

    def two_stream(
        self, content: Tensor, allowed: tuple[AttentionMask, AttentionMask], query_positions: Tensor
    ) -> Tensor:
        """The states `[b, m, d]` of some positions `[b, m]`: left context to the word before, right from the next."""
        if len(self.blocks) != 1:
            raise UnfitModel(
                "A recurrent network predicts a word from all words to its left and to its right with one layer only",
                "set layers to 1, or kind to transformer",
            )
        layer, others = cast("RecurrentLayer", self.blocks[0]), allowed[1].dense()
        order = ReadingOrder.of(allowed[1], len(content), own=allowed[0])
        states = order.join(layer(order.split(content), order))
        from_left, from_right = states.chunk(2, dim=-1)
        before = pad(from_left, (0, 0, 1, 0))[:, :-1] * others.tril(-1).any(-1, keepdim=True)
        after = pad(from_right, (0, 0, 0, 1))[:, 1:] * others.triu(1).any(-1, keepdim=True)
        context = torch.cat([before, after], dim=-1)
        return self.fc2(relu(self.fc1(context))).gather(1, query_positions[..., None].expand(-1, -1, content.shape[-1]))

    def decode(
        self,
        x: Tensor,
        source: Tensor,
        allowed: tuple[AttentionMask, AttentionMask],
        positions: tuple[PositionEncoding | None, PositionEncoding | None],
        weights: Weights,
    ) -> Tensor:
        """A decoder's states `[b, n, d]`, with what each attends to in the source `[b, m, d]`, or fed with it."""
        states = x if self.max_pooling else self.hidden_states(x, allowed[0], None, 0, len(self.blocks))[-1]
        query = torch.zeros_like(x) if self.max_pooling else self.score(states)
        looks = attention_weights(query[:, None], source[:, None], SdpaMask.of(allowed[1]), scale=1.0)
        if weights is not None:
            weights.setdefault("cross", []).append(looks)
        read = (looks @ source[:, None])[:, 0]
        if self.max_pooling:
            return self._fed(torch.cat([x, read], dim=-1), read, ReadingOrder.of(allowed[0], len(x)))
        return torch.tanh(self.combine(torch.cat([read, states], dim=-1)))

    def _fed(self, x: Tensor, read: Tensor, order: ReadingOrder) -> Tensor:
        """The states of the last layer `[b, n, d]` over `x` `[b, n, 2d]`; the first `read` makes the initial ones."""
        inner, first = order.split(x), order.split(read)[:, 0]
        for depth, (layer, initial) in enumerate(zip(self.blocks, self.initial, strict=True)):
            begins = [part.contiguous() for part in initial(first)[None].split(read.shape[-1], dim=-1)]
            inner = layer(self.dropout(inner) if self.dropout is not None and depth else inner, order, begins)
        return order.join(inner)


@torch.no_grad()
def init_recurrent(stack: nn.Module, rng: Generator) -> None:
    """Initialise all weights evenly within 1 / sqrt(width), as PyTorch does, and `bias_ih` of forget gates with 1.

    Jozefowicz et al. 2015, sec. 2.2, for the forget gates.
    """
    for module in stack.modules():
        if isinstance(module, nn.RNNBase):
            for name, weight in module.named_parameters():
                weight.copy_((torch.rand(weight.shape, generator=rng) * 2 - 1) * module.hidden_size**-0.5)
                if isinstance(module, nn.LSTM) and name.startswith("bias_ih"):
                    weight[module.hidden_size : 2 * module.hidden_size] = 1.0
        elif isinstance(module, nn.Linear):
            weight = module.weight
            weight.copy_((torch.rand(weight.shape, generator=rng) * 2 - 1) * weight.shape[1] ** -0.5)
