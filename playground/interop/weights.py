"""The weights of a folder: names and shapes first, values when both are right."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from playground.errors import UserError
from playground.parsing import parse_json
from playground.training.memory import available, format_bytes

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"

PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack")
"""Files of weights that are not read: a pickle can carry code, and the others are of other libraries."""

FLOATS = ("F64", "F32", "F16", "BF16")
"""The types of numbers that weights may have."""

BUFFERS = (
    "position_ids", ".attn.bias", ".attn.masked_bias", ".version", ".EncDecAttention.relative_attention_bias.weight",
)  # fmt: skip
"""What some files hold and no class reads."""


def read_json(path: Path) -> dict[str, Any]:
    """A file that holds a JSON object."""
    try:
        value = parse_json(path.read_bytes())
        if not isinstance(value, dict):
            raise ValueError(f"it holds {type(value).__name__}, not an object")
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise UserError(f"{path} is not a usable JSON file ({error}); download it again.") from error
    return value


@dataclass(frozen=True)
class FolderWeights:
    """The weights of a folder, in one file or in several; `today` leads from a name in a file to that of today.

    `copies` lead from tied weights to the original, which they replace where it is missing.
    """

    folder: Path
    today: Callable[[str], str]
    copies: Mapping[str, str]

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files that hold weights; a name that leads out of the folder is refused."""
        if os.path.isfile(self.folder / WHOLE):
            return (self.folder / WHOLE,)
        if not os.path.isfile(self.folder / INDEX):
            raise UserError(self._why_none())
        found = read_json(self.folder / INDEX).get("weight_map")
        names = sorted({*map(str, found.values())}) if isinstance(found, dict) else []
        names = names if all(name == Path(name).name and name.endswith(".safetensors") for name in names) else []
        missing = [name for name in names if not os.path.isfile(self.folder / name)]
        if not names or missing:
            wrong = f"{missing[0]} is missing" if missing else "it names no files of this folder"
            raise UserError(f"{self.folder / INDEX} cannot be used: {wrong}.")
        return tuple(self.folder / name for name in names)

    def _why_none(self) -> str:
        other = next((name for name in PICKLES if os.path.exists(self.folder / name)), None)
        if other is None:
            return f"There is no {WHOLE} in {self.folder}; give a folder that save_pretrained wrote."
        return (
            f"{self.folder} has its weights only in {other}, which can carry code and is not read; open it with "
            "transformers and save it again: save_pretrained writes model.safetensors."
        )

    @cached_property
    def held_in(self) -> dict[str, tuple[Path, str]]:
        """The file of every weight and its name there, by its name of today; no weight is read."""
        found: dict[str, tuple[Path, str]] = {}
        for file in self.files:
            with _opened(file) as held:
                for name in (name for name in held.keys() if not name.endswith(BUFFERS)):  # noqa: SIM118
                    kind = held.get_slice(name).get_dtype()
                    if kind not in FLOATS:
                        raise UserError(f"The weight {name} of {file} is of the type {kind}, not a number.")
                    if self.today(name) in found:
                        raise UserError(f"The weight {name} is in {self.folder} more than once.")
                    found[self.today(name)] = file, name
        for copy, first in self.copies.items():
            if copy in found and first not in found:
                found[first] = found.pop(copy)
        return found

    def has(self, name: str) -> bool:
        """Whether a weight is there, or one of a module."""
        return any(held == name or held.startswith(f"{name}.") for held in self.held_in)

    def differ(self, one: str, other: str) -> bool:
        """Whether two weights, or those of two modules, are both there and unlike."""
        pairs = [(one + leaf, other + leaf) for leaf in ("", ".weight", ".bias")]
        both = [pair for pair in pairs if self.held_in.keys() >= set(pair)]
        return any(not torch.equal(*self.load(pair).values()) for pair in both)

    def check(self, expected: Mapping[str, Tensor], left_out: str) -> None:
        """Refuse weights that are missing, left over, of another shape, or too many for the memory."""
        held = self.held_in.keys()
        over = sorted(n for n in held - expected.keys() - self.copies.keys() if not n.startswith(left_out))
        missing = sorted(expected.keys() - held)
        if missing or over:
            found = {"missing": missing, "left over": over}.items()
            parts = [f"{len(names)} weights are {what}, such as {names[0]}" for what, names in found if names]
            raise UserError(f"The weights in {self.folder} do not fit its config.json: {'; '.join(parts)}.")
        for name, part in self._each(expected, "get_slice"):
            if (shape := part.get_shape()) != (right := list(expected[name].shape)):
                raise UserError(f"The weight {name} has the shape {shape}; by config.json it is {right}.")
        need, free = 3 * 4 * sum(weight.numel() for weight in expected.values()), available(torch.device("cpu"))
        if free is not None and need > free:
            raise UserError(
                f"The weights in {self.folder} need {format_bytes(need)} of memory while they are read; "
                f"{format_bytes(free)} are free."
            )

    def load(self, names: Iterable[str]) -> dict[str, Tensor]:
        """Some weights in float32; those that are not finite are refused."""
        found = {name: part.float() for name, part in self._each(names, "get_tensor")}
        bad = next((name for name, value in found.items() if not value.isfinite().all()), None)
        if bad is not None:
            raise UserError(f"The weight {bad} in {self.folder} holds numbers that are not finite.")
        return found

    def _each(self, names: Iterable[str], what: str) -> Iterator[tuple[str, Any]]:
        """Some weights by their names of today, file by file."""
        held_in = [(*self.held_in[name], name) for name in names]
        for file in self.files:
            with _opened(file) as held:
                yield from ((name, getattr(held, what)(old)) for path, old, name in held_in if path == file)


def _opened(file: Path) -> Any:
    try:
        return safe_open(file, framework="pt")
    except (SafetensorError, OSError, ValueError) as error:
        raise UserError(f"{file} is damaged or cut short ({error}); download it again.") from error


def layer_pattern(name: str) -> str:
    """The name of a weight with `#` for the number of its layer."""
    return re.sub(r"(?<=\.)\d+(?=\.)", "#", name)
