"""A family: a published form of a model, with its names and settings in the layout of the transformers library."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad as padded

from playground.catalog import find
from playground.errors import UserError
from playground.interop.weights import FolderWeights, layer_pattern
from playground.knob import as_written
from playground.models import Architecture

ANY = object()
"""A field of the architecture that a family has at every value."""

COMMON_FORM: Mapping[str, Any] = {
    **{f.name: f.default for f in fields(Architecture)},
    "norm_eps": ANY, "dropout": ANY, "init": ANY, "weight_drop": ANY, "labels": ANY, "paired": ((),),
    "label_embeddings": ((),),
    "tie_generator": ANY, "tie_word_embeddings": ANY, "layers": ANY, "width": ANY, "heads": ANY, "mlp_ratio": ANY,
    "max_position_embeddings": ANY, "positions": "learned", "attention_bias": True,
}  # fmt: skip
"""What most families have: learned positions, biases, free sizes, and none of the parts of other models."""

GELUS = {"gelu": ("gelu",), "gelu tanh": ("gelu_new", "gelu_pytorch_tanh", "gelu_fast"), "relu": ("relu",)}
"""Names of activations: ours, and theirs with the one that is written first."""

LIMITS = {
    "layers": 512, "decoder_layers": 512, "width": 2**15, "heads": 1024, "head_dim": 2**12, "mlp_ratio": 64,
    "embedding_size": 2**15, "max_position_embeddings": 2**20, "segments": 1024, "languages": 1024,
    "vocabulary": 2**22,
}  # fmt: skip
"""The largest sizes that are read; larger ones are no model but a damaged file."""

POSITIONS, SEGMENTS = "position_embedding.weight", "network.segment_embedding"

HEAD, OUTPUT = "lm_head.", "lm_head.table.weight"
"""The head that scores words, and its table where it is not that of the word vectors."""

POOLER = "pooler"
"""What the classes for words do not read: a layer on the first position."""

OLD_NAMES = ((".LayerNorm.gamma", ".LayerNorm.weight"), (".LayerNorm.beta", ".LayerNorm.bias"))
"""Names in the oldest files."""


@dataclass(frozen=True)
class Setting:
    """A key of config.json for a field of the architecture; `default` is what a missing key means in transformers.

    `values` give other names (ours to theirs), `multiple` says that theirs is counted in widths, `also` are keys with
    the same value; `at_least` is written where ours is smaller, with `one_is_none` a single one is none of ours.
    """

    key: str
    field: str
    default: Any = None
    values: Mapping[Any, tuple[Any, ...]] | None = None
    multiple: bool = False
    also: tuple[str, ...] = ()
    at_least: int = 0
    one_is_none: bool = False

    def write(self, shape: Architecture) -> dict[str, Any]:
        """The keys for an architecture."""
        value = getattr(shape, self.field)
        value = round(value * shape.width) if self.multiple else max(value, self.at_least) if self.at_least else value
        value = value if self.values is None else self.values[value][0]
        return dict.fromkeys((self.key, *self.also), value)

    def read(self, config: Mapping[str, Any], width: int) -> Any:
        """The value of the field, which all its keys must have; a finished model does not use dropout."""
        value = config[self.key]
        if unlike := [key for key in self.also if config[key] != value and self.field != "dropout"]:
            _refuse(unlike[0], config[unlike[0]], [f"{value!r} as {self.key}"])
        if self.values is not None:
            names = [(each, ours) for ours, theirs in self.values.items() for each in theirs]
            known = [ours for each, ours in names if type(each) is type(value) and each == value]
            return known[0] if known else _refuse(self.key, value, [each for each, _ in names])
        if self.field in ("norm_eps", "dropout"):
            fits = type(value) in (int, float) and math.isfinite(value) and 0 <= value < 1
            return float(value) if fits else _refuse(self.key, value, ["a number from 0 to below 1"])
        if self.multiple:
            return check_size(self.key, value, LIMITS[self.field] * width) / width
        size = check_size(self.key, value, LIMITS[self.field])
        return 0 if self.one_is_none and size == 1 else size


def _refuse(key: str, value: object, right: Iterable[object]) -> Any:
    raise UserError(f"config.json says {key}: {value!r}; what can be read is {' or '.join(map(str, right))}.")


def check_size(key: str, value: Any, most: int) -> int:
    """A size as a whole number from 1 on; checked before anything is allocated."""
    if type(value) is not int or not 1 <= value <= most:
        raise UserError(f"config.json says {key}: {value!r}; it must be a whole number from 1 to {most:,}.")
    return value


@dataclass(frozen=True)
class Layout:
    """How a weight is laid out: from ours to theirs, for a number of heads, and back."""

    write: Callable[[Tensor, int], Tensor]
    read: Callable[[Tensor], Tensor]


CONV_1D = Layout(lambda x, heads: x.T, lambda x: x.T)
"""Inputs down, outputs across (GPT-2's released code); a bias stays."""

HEADS_INTO = Layout(lambda x, heads: x.T.unflatten(-1, (heads, -1)), lambda x: x.flatten(1).T)
"""Inputs, heads, outputs of a head (XLNet's released code)."""

HEADS_OUT_OF = Layout(lambda x, heads: x.unflatten(-1, (heads, -1)), lambda x: x.flatten(1))
"""Outputs, heads, inputs of a head (XLNet's released code)."""

ROW = Layout(lambda x, heads: x[None], lambda x: x[0])
"""A vector as a matrix of one row."""

CELL = Layout(lambda x, heads: x[None, None], lambda x: x[0, 0])
"""A vector as a block of one row."""

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Family:
    """Names, settings and layout of one published model; `#` in a name is the number of a layer.

    `classes` are the values of "architectures" with the labels of each, `plain` is the class without a head for words,
    `trained_as` the entry of the zoo where that has another name. `defaults` are what missing keys of config.json mean
    in transformers where that is not what the settings and `fixed` say; `complete` adds those that follow from others.
    `form` are the fields of the architecture that the family has, besides `COMMON_FORM`; `fixed` the keys that must
    have one value, `derived` those that follow from the architecture. `names` lead from ours to theirs, several of ours
    to one where they are fused, one of ours to several where theirs are copies; `own_names` replace some of them for an
    architecture. `output` is the table that scores words, a copy of that of the word vectors where both are tied.
    `zeros` are weights of theirs for what our model lacks, `optional` weights that are zero where they are missing;
    `copies` lead from tied weights that some files repeat to the original. `elsewhere` are weights of ours that the
    folder leaves out. `offset` is the number of rows before the first position, given the id of padding; with
    `counts_offset` they are counted in the longest input. The folder of a generator inside is of the family
    `companion`. `refusal` says what else is wrong with an architecture.
    """

    name: str
    source: str
    model_type: str
    classes: Mapping[str, tuple[tuple[str, int], ...]]
    form: Mapping[str, Any]
    settings: tuple[Setting, ...]
    names: Mapping[str, str | tuple[str, ...]]
    defaults: Mapping[str, Any]
    trained_as: str = ""
    plain: str = ""
    output: str = ""
    order: tuple[int] = (1,)
    complete: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda config: {}
    own_names: Callable[[Architecture], Mapping[str, str]] = lambda shape: {}
    fixed: Mapping[str, Any] = field(default_factory=dict)
    derived: Callable[[Architecture], Mapping[str, Any]] = lambda shape: {}
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    zeros: Callable[[Architecture], Mapping[str, tuple[int, ...]]] = lambda shape: {}
    copies: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    offset: Callable[[int], int] = lambda pad: 0
    counts_offset: bool = False
    companion: str = ""
    refusal: Callable[[Architecture], str] = lambda shape: ""

    def differences(self, shape: Architecture) -> list[str]:
        """The fields in which an architecture is not of this family, each with its value and the right ones."""
        found = []
        heads = {"labels": tuple(self.classes.values()), "lm_head": (True, False) if self.plain else ANY}
        for name, allowed in {**COMMON_FORM, **heads, **self.form}.items():
            value, right = getattr(shape, name), allowed if isinstance(allowed, tuple) else (allowed,)
            if allowed is not ANY and value not in right:
                found.append(f"{name} is {_shown(value)}, not {' or '.join(map(_shown, right))}")
        return [*found, *filter(None, [self.refusal(shape)])]

    @property
    def entry(self) -> str:
        """The entry of the zoo that trains it."""
        return self.trained_as or self.name

    def class_of(self, shape: Architecture) -> str:
        """The class in transformers with the heads of an architecture."""
        if self.plain and not shape.lm_head:
            return self.plain
        return next(name for name, labels in self.classes.items() if labels == shape.labels)

    @property
    def table(self) -> str:
        """Their table of word vectors."""
        return self._theirs("token_embedding.weight")[0]

    @property
    def prefix(self) -> str:
        """What some files leave out of the names of the network's weights."""
        first, *inside = self.table.split(".")
        return f"{first}." if len(inside) > 1 else ""

    def write_config(self, shape: Architecture, pad: int) -> dict[str, Any]:
        """The keys of config.json that belong to an architecture."""
        keys: dict[str, Any] = {"architectures": [self.class_of(shape)], "model_type": self.model_type}
        for setting in self.settings:
            keys |= setting.write(shape)
        if self.counts_offset:
            keys["max_position_embeddings"] += self.offset(pad)
        return keys | dict(self.fixed) | dict(self.derived(shape)) | {"tie_word_embeddings": shape.tie_word_embeddings}

    def completed(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A config.json with the values that transformers takes for missing keys."""
        keys = {key: setting.default for setting in self.settings for key in (setting.key, *setting.also)}
        ids = dict.fromkeys(("pad_token_id", "eos_token_id", "decoder_start_token_id"))
        whole = {"tie_word_embeddings": True, **ids, **self.fixed, **keys, **self.defaults, **config}
        return {**whole, **self.complete(whole)}

    def read_config(self, config: Mapping[str, Any], pad: int, parts: Mapping[str, Any]) -> Architecture:
        """The architecture of a completed config.json, with the `parts` that the weights tell."""
        key = next(setting.key for setting in self.settings if setting.field == "width")
        width = check_size(key, config[key], LIMITS["width"])
        for key, value in self.fixed.items():
            if config[key] != value:
                _refuse(key, config[key], [repr(value)])
        form = {**COMMON_FORM, **self.form}
        known = {name: v[0] if isinstance(v, tuple) else v for name, v in form.items() if v is not ANY}
        if not isinstance(config["tie_word_embeddings"], bool):
            _refuse("tie_word_embeddings", config["tie_word_embeddings"], ["true", "false"])
        for setting in self.settings:
            known[setting.field] = setting.read(config, width)
        if self.counts_offset:
            rows = known["max_position_embeddings"] - self.offset(pad)
            known["max_position_embeddings"] = check_size(
                "max_position_embeddings", rows, LIMITS["max_position_embeddings"]
            )
        shape = Architecture(**{**known, **parts})
        for key, value in self.derived(shape).items():
            if config.get(key, value) != value:
                _refuse(key, config[key], [repr(value)])
        if wrong := self.differences(shape):
            raise UserError(f"This {self.name} is of a form that our models lack: {'; '.join(wrong)}.")
        return shape

    def parts(self, config: Mapping[str, Any], weights: FolderWeights) -> dict[str, Any]:
        """The fields of the architecture that a folder tells by the weights that it has: heads, and what is tied."""
        scores = [n for n in self.names if n.startswith(HEAD) and self.names[n] not in self.optional]
        twins = [names for names in self.names.values() if isinstance(names, tuple)]
        found = [
            labels
            for labels in self.classes.values()
            if all(weights.has(self._theirs(f"label_heads.{name}.out_proj.weight")[0]) for name, _ in labels)
        ]
        lm_head = HEAD not in self.elsewhere and (not scores or any(weights.has(str(self.names[n])) for n in scores))
        tied = config["tie_word_embeddings"] and not weights.differ(self.output, self.table)
        return {
            "lm_head": lm_head,
            "labels": max(found, key=len, default=()),
            "tie_word_embeddings": tied or not lm_head,
            "decoder_positions": any(weights.differ(*names) for names in twins),
        }

    def today(self, name: str) -> str:
        """The name of a weight in the classes of today: some files have old names, some leave out the prefix."""
        for old, new in OLD_NAMES:
            name = name.removesuffix(old) + new if name.endswith(old) else name
        every = [n for names in self.names.values() for n in ((names,) if isinstance(names, str) else names)]
        roots = {n.removeprefix(self.prefix).split(".")[0] for n in every if n.startswith(self.prefix)}
        return self.prefix + name if self.prefix and name.split(".")[0] in {*roots, POOLER} else name

    def rows(self, shape: Architecture, ours: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
        """Names of theirs, and the weights of ours that they hold."""
        found: dict[tuple[str, ...], list[str]] = {}
        for name in ours:
            if not name.startswith(self.elsewhere):
                found.setdefault(self._theirs(name, self.own_names(shape)), []).append(name)
        return found

    def write(self, shape: Architecture, state: Mapping[str, Tensor], pad: int) -> Tensors:
        """Their weights from ours; on the meta device only their shapes."""
        found: Tensors = {}
        for theirs, ours in self.rows(shape, state).items():
            before = {name: self.offset(pad) if name.endswith(POSITIONS) else 0 for name in ours}
            parts = [padded(state[name], (0, 0, rows, 0)) if rows else state[name] for name, rows in before.items()]
            whole = torch.cat(parts) if len(parts) > 1 else parts[0]
            layout = self.layouts.get(layer_pattern(theirs[0]))
            found |= dict.fromkeys(theirs, whole if layout is None else layout.write(whole, shape.heads))
        some, zeros, segments = next(iter(state.values())), dict(self.zeros(shape)), self.names.get(SEGMENTS)
        if segments and not shape.segments:  # they have at least one
            zeros[f"{segments}.weight"] = (1, shape.table_width)
        return found | {name: some.new_zeros(size) for name, size in zeros.items()}

    def read(self, shape: Architecture, tensors: Mapping[str, Tensor], ours: Mapping[str, Tensor], pad: int) -> Tensors:
        """Our weights from theirs; `ours` have our names and shapes."""
        found: Tensors = {}
        for theirs, names in self.rows(shape, ours).items():
            whole, layout = tensors[theirs[0]], self.layouts.get(layer_pattern(theirs[0]))
            whole = whole if layout is None else layout.read(whole)
            parts = whole.chunk(len(names)) if len(names) > 1 else [whole]
            found |= dict(zip(names, parts, strict=True))
        return {name: part[self.offset(pad) :] if name.endswith(POSITIONS) else part for name, part in found.items()}

    def _theirs(self, name: str, own: Mapping[str, str] = MappingProxyType({})) -> tuple[str, ...]:
        """Their names of a weight of ours."""
        pattern, numbers = layer_pattern(name), re.findall(r"(?<=\.)\d+(?=\.)", name)
        module, _, leaf = pattern.rpartition(".")
        names = {**self.names, OUTPUT: self.output, **own}
        found = names.get(pattern)
        if found is None and module in names:
            modules = names[module]
            found = tuple(f"{m}.{leaf}" for m in ((modules,) if isinstance(modules, str) else modules))
        if not found:
            raise UserError(f"The model has the weight {name}, for which {self.name} in transformers has no parameter.")
        number = numbers[0] if numbers else "#"
        return tuple(f.replace("#", number) for f in ((found,) if isinstance(found, str) else found))


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{name} ({number})" for name, number in value) or "none"
    return as_written(value)


def needs_decoder(shape: Architecture) -> str:
    """What is wrong with an architecture of a family that writes with a decoder."""
    return "" if shape.decoder_layers else "decoder_layers is 0, not 1 or more"


def families() -> dict[str, Family]:
    """Every family by name, the most common first."""
    return find("playground.interop.families", Family)


def attention_names(layer: str, names: Sequence[str], ours: str = "attn") -> dict[str, str]:
    """The names of an attention layer of theirs: queries, keys, values and what comes out."""
    parts = zip(("query", "key", "value", "out"), names, strict=True)
    return {f"{ours}.{part}": f"{layer}.{name}" for part, name in parts}


def encoder_names(prefix: str, parts: Mapping[str, str], stack: str = "encoder") -> dict[str, str]:
    """The names of the layers of a stack: `parts` lead from our sub-layers to theirs inside a layer `prefix`."""
    return {f"network.{stack}.blocks.#.{ours}": f"{prefix}{theirs}" for ours, theirs in parts.items()}
