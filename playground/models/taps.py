"""Named taps: read and replace what any head, layer or neuron of a model gives, while it runs as it is.

Taps are hooks of PyTorch on the model's own modules, so what they read is what is computed. All numbers count from 1:
`layer2` are the states after the second layer, `layer2.attention` and `layer2.mlp` what these add to the states,
`layer2.head3` what the third head gathered, `layer2.head3.weights` its attention weights, `layer2.neuron7` a number in
the MLP. The same stand in other stacks: `decoder.layer1.cross.head2`, `generator.layer1.mlp`, `backward.layer1`. Where
two streams pass through a layer (XLNet), both are read, one after the other, and both are changed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from torch import Tensor, nn

from playground.errors import UserError

if TYPE_CHECKING:
    from playground.models.model import LanguageModel
    from playground.models.transformer import Attention, Block, Stack

Change = Callable[[Tensor], Tensor]
"""Makes the new value of the old one, in the same shape."""

NAME = re.compile(
    r"((?P<network>decoder|generator|backward)\.)?layer(?P<layer>\d+)"
    r"(\.((?P<cross>cross)\.)?(?P<part>head|attention|mlp|neuron)(?P<number>\d+)?(?P<weights>\.weights)?)?"
)


@dataclass(frozen=True)
class TapPoint:
    """What a name means: a module, what of it is hooked, and which of its values are meant.

    `block` is the layer that must be running, where several layers share the module.
    """

    name: str
    module: nn.Module
    hook: Literal["input", "output", "weights"]
    index: Any = ...
    block: nn.Module | None = None


@dataclass
class Taps:
    """The latest values by name, and what they are replaced with while the model runs."""

    names: tuple[str, ...]
    values: dict[str, Tensor] = field(default_factory=dict)
    changes: dict[str, Change] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Tensor:
        """The latest value `[b, n, d]`; of a head `[b, n, d / h]`, its weights `[b, n, m]`, of a neuron `[b, n, 1]`."""
        self._check(name)
        if name not in self.values:
            raise UserError(f"{name} has no value: no pass went through it yet.")
        return self.values[name]

    def change(self, name: str, to: Change | Tensor) -> None:
        """Replace a value from now on by what a function makes of it, or by a tensor of its shape or of its width."""
        self._check(name)
        self.changes[name] = to if callable(to) else to.expand_as

    def zero(self, *names: str) -> None:
        """Switch parts off: what they give is 0."""
        for name in names:
            self.change(name, lambda value: value * 0)

    def restore(self) -> None:
        """Replace nothing any more."""
        self.changes.clear()

    def pass_through(self, name: str, value: Tensor) -> Tensor | None:
        """Keep a value, and give what takes its place, if anything does."""
        changed = self.changes[name](value) if name in self.changes else None
        if changed is not None and changed.shape != value.shape:
            raise UserError(f"{name} has the shape {list(value.shape)}, and its change gives {list(changed.shape)}.")
        self.values[name] = value if changed is None else changed
        return changed

    def _check(self, name: str) -> None:
        if name not in self.names:
            raise UserError(f"{name!r} is not tapped; tapped are: {', '.join(self.names)}.")


@contextmanager
def tapped(model: "LanguageModel", *names: str) -> Iterator[Taps]:
    """Read and replace the values of named parts of a model while it runs; afterwards it is as it was.

    `with tapped(model, "layer1.head2") as taps: taps.zero("layer1.head2"); model(batch)`.
    """
    points = [find_tap_point(model, name) for name in dict.fromkeys(names)]
    taps, running = Taps(tuple(point.name for point in points)), set()
    with ExitStack() as stack:
        for point in points:
            if point.block is not None:  # layers share the module, so it is known by the block that runs
                _watch(point.block, running, stack)
            _hook(point, taps, running, stack)
        yield taps


def answering(model: "LanguageModel") -> str:
    """The beginning of the names in the network that fills gaps: "generator." where a model has one, else empty."""
    return "generator." if model.shape.generator_ratio else ""


def head_names(model: "LanguageModel", network: str = "") -> tuple[str, ...]:
    """The names of all heads of the network that reads, or of another one, and of its decoder if there is one."""
    shape, heads = model.shape, range(1, model.shape.heads + 1)
    if shape.kind != "transformer":
        return ()
    own = [f"{network}layer{k}.head{h}" for k in range(1, shape.layers + 1) for h in heads]
    both = ("", "cross.")
    if network:
        return tuple(own)
    written = [f"decoder.layer{k}.{c}head{h}" for k in range(1, shape.decoder_layers + 1) for c in both for h in heads]
    return (*own, *written)


def part_names(model: "LanguageModel") -> tuple[str, ...]:
    """The names of all heads, of the attention and of the MLP of every layer, those of one layer together."""
    heads = head_names(model)
    layers = dict.fromkeys(re.sub(r"\.(cross\.)?head\d+$", "", head) for head in heads)
    return tuple(
        part
        for layer in layers
        for part in (*(h for h in heads if h.startswith(f"{layer}.")), f"{layer}.attention", f"{layer}.mlp")
    )


def _watch(block: nn.Module, running: set[nn.Module], stack: ExitStack) -> None:
    """Note when a block runs."""
    stack.callback(block.register_forward_pre_hook(lambda *_: running.add(block)).remove)
    stack.callback(block.register_forward_hook(lambda *_: running.discard(block)).remove)


def _hook(point: TapPoint, taps: Taps, running: set[nn.Module], stack: ExitStack) -> None:
    """Let the values of a point pass through its tap."""

    def through(value: Tensor) -> Tensor:
        if point.block is not None and point.block not in running:
            return value
        changed = taps.pass_through(point.name, value[point.index])
        if changed is None:
            return value
        value = value.clone()
        value[point.index] = changed
        return value

    def before(_: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return through(args[0]), *args[1:]

    def behind(_: nn.Module, __: tuple[Tensor, ...], output: Tensor) -> Tensor:
        return through(output)

    if point.hook == "weights":
        found = cast("Attention", point.module).weight_taps
        found.append(through)
        stack.callback(found.remove, through)
    elif point.hook == "input":
        stack.callback(point.module.register_forward_pre_hook(before).remove)
    else:
        stack.callback(point.module.register_forward_hook(behind).remove)


def find_tap_point(model: "LanguageModel", name: str) -> TapPoint:
    """The part of a model that a name means; a name of none is refused with what there is."""
    said, shape = NAME.fullmatch(name), model.shape
    if shape.kind != "transformer":
        raise UserError(f"Only transformers have taps; this model is of the kind {shape.kind}.")
    if said is None:
        raise UserError(f"{name!r} names no part; write layer1, layer1.attention, layer1.mlp, layer1.head1, "
                        "layer1.head1.weights or layer1.neuron1, after decoder. where it writes.")  # fmt: skip
    block = cast("Block", _numbered("layers", _stack(model, said["network"] or "").layers, int(said["layer"])))
    shared = block if shape.layer_sharing != "none" else None
    if said["part"] is None:
        return TapPoint(name, block.end, "output")
    if said["cross"] and said["network"] != "decoder":
        raise UserError(f"{name!r} attends to no other stack; only a decoder does: decoder.layer1.cross.head1.")
    attention = block.cross_attn if said["cross"] else block.attn
    number = int(said["number"] or 0)
    match said["part"]:
        case "attention":
            return TapPoint(name, attention, "output", block=shared)
        case "mlp":
            return TapPoint(name, block.mlp, "output", block=shared)
        case "neuron":
            _numbered("neurons", range(block.mlp.fc1.out_features), number)
            return TapPoint(name, block.mlp.fc2, "input", (..., slice(number - 1, number)), shared)
        case _:
            _numbered("heads", range(attention.heads), number)
            if said["weights"]:
                return TapPoint(name, attention, "weights", (slice(None), number - 1), shared)
            wide = attention.out.in_features // attention.heads
            return TapPoint(name, attention.out, "input", (..., slice((number - 1) * wide, number * wide)), shared)


def _stack(model: "LanguageModel", network: str) -> "Stack":
    shape = model.shape
    there = {"": True, "decoder": shape.decoder_layers, "generator": shape.generator_ratio, "backward": shape.backward}
    if not there[network]:
        raise UserError(f"This model has no {network}.")
    owner: Any = {"generator": "generator", "backward": "backward_network"}.get(network, "network")
    found = getattr(model, owner)
    return found.decoder if network == "decoder" else found.encoder


def _numbered(what: str, each: Sequence[Any], number: int) -> Any:
    """One of several that are counted from 1."""
    if not 0 < number <= len(each):
        raise UserError(f"There are {len(each)} {what}, counted from 1, and no number {number}.")
    return each[number - 1]
