"""The weights of a folder: names and shapes first, values when both are right."""

import os
import re
from collections.abc import Mapping
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

OLD_NAMES = ((".LayerNorm.gamma", ".LayerNorm.weight"), (".LayerNorm.beta", ".LayerNorm.bias"))
"""Names in the oldest files."""


def read_json(path: Path) -> dict[str, Any]:
    """A file that holds a JSON object."""
    try:
        value = parse_json(path.read_bytes())
        if not isinstance(value, dict):
            raise ValueError(f"it holds {type(value).__name__}, not an object")
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise UserError(f"{path} is no JSON file that can be used ({error}); download it again.") from error
    return value


@dataclass(frozen=True)
class Weights:
    """The weights of a folder, in one file or in several."""

    folder: Path

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files that hold weights; a name that leads out of the folder is refused."""
        if os.path.isfile(self.folder / WHOLE):
            return (self.folder / WHOLE,)
        if not os.path.isfile(self.folder / INDEX):
            raise UserError(self._why_none())
        found = read_json(self.folder / INDEX).get("weight_map")
        names = sorted({*found.values()}) if isinstance(found, dict) and all(map(_is_name, found.values())) else []
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
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight, by its name of today; no weight is read."""
        found: dict[str, tuple[int, ...]] = {}
        for file in self.files:
            with _opened(file) as held:
                for name in held.keys():  # noqa: SIM118
                    part = held.get_slice(name)
                    if part.get_dtype() not in FLOATS and not name.endswith(("position_ids", ".attn.bias")):
                        raise UserError(f"The weight {name} of {file} is of the type {part.get_dtype()}, not a number.")
                    if _today(name) in found:
                        raise UserError(f"The weight {name} is in {self.folder} more than once.")
                    found[_today(name)] = tuple(part.get_shape())
        return found

    def check(self, expected: Mapping[str, Tensor], copies: Mapping[str, str], unused: tuple[str, ...]) -> None:
        """Refuse weights that are missing, left over, of another shape, or too many for the memory."""
        held = self.shapes
        wanted = expected.keys()
        over = sorted(
            name
            for name in held.keys() - wanted - copies.keys()
            if layer_pattern(name) not in unused and name not in unused
        )
        missing = sorted(wanted - held.keys())
        if missing or over:
            told = [
                f"{len(names)} weights are {what}, such as {names[0]}"
                for names, what in ((missing, "missing"), (over, "left over"))
                if names
            ]
            raise UserError(f"The weights in {self.folder} do not fit its config.json: {'; '.join(told)}.")
        for name in wanted:
            shape, right = list(held[name]), list(expected[name].shape)
            if shape != right:
                raise UserError(f"The weight {name} has the shape {shape}; by config.json it is {right}.")
        need, free = 3 * 4 * sum(expected[name].numel() for name in wanted), available(torch.device("cpu"))
        if free is not None and need > free:
            raise UserError(
                f"The weights in {self.folder} need {format_bytes(need)} of memory while they are read; "
                f"{format_bytes(free)} are free."
            )

    def load(self, names: Mapping[str, Any]) -> dict[str, Tensor]:
        """Some weights in float32; those that are not finite are refused."""
        found: dict[str, Tensor] = {}
        for file in self.files:
            with _opened(file) as held:
                for name in held.keys():  # noqa: SIM118
                    if _today(name) in names:
                        found[_today(name)] = held.get_tensor(name).float()
        bad = next((name for name, value in found.items() if not value.isfinite().all()), None)
        if bad is not None:
            raise UserError(f"The weight {bad} in {self.folder} holds numbers that are not finite.")
        return found


def _opened(file: Path) -> Any:
    try:
        return safe_open(file, framework="pt")
    except (SafetensorError, OSError, ValueError) as error:
        raise UserError(f"{file} is damaged or cut short ({error}); download it again.") from error


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name == Path(name).name and name.endswith(".safetensors")


def _today(name: str) -> str:
    for old, new in OLD_NAMES:
        name = name.removesuffix(old) + new if name.endswith(old) else name
    return name


def layer_pattern(name: str) -> str:
    """The name of a weight with `#` for the number of its layer."""
    return re.sub(r"(?<=\.)\d+(?=\.)", "#", name)
