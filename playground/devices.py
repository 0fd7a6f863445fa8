"""The device a run uses: one flag, chosen automatically, always shown."""

import os
import pickle
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cache
from io import BytesIO
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, pad, scaled_dot_product_attention

from playground.errors import UserError

T = TypeVar("T")

TOLERANCE = 1e-3
"""Largest difference from the CPU in a loss or a gradient of size 1, both in float32."""

DETERMINISTIC = "PLAYGROUND_DETERMINISTIC"
"""The environment variable that, set to 1, gives the same seed the same bits on a GPU too.

Without it CUDA adds up some gradients in any order, so two runs differ by rounding. An operation that has no
deterministic form there says so in a warning.
"""

torch.backends.cudnn.allow_tf32 = False  # with 10 bits of a fraction recurrent layers would leave `TOLERANCE`
if os.environ.get(DETERMINISTIC) == "1":
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what cuBLAS asks for
    torch.use_deterministic_algorithms(True, warn_only=True)


def pick(name: str = "auto") -> torch.device:
    """A device by its name; "auto" is the fastest one that agrees with the CPU."""
    names = available()
    if name == "auto":
        return torch.device(names[0])
    if name.split(":")[0] == "mps" and (why := doubt()):
        raise UserError(why)
    with suppress(RuntimeError):  # a name that torch does not know, such as cpu:one
        device = torch.device(name)
        if device.type in names and (device.index or 0) < (torch.cuda.device_count() if device.type == "cuda" else 1):
            return device
    raise UserError(f"Device {name!r} is not on this machine; choose one of: auto, {', '.join(names)}.")


def available() -> tuple[str, ...]:
    """The devices of this machine, the fastest first; Apple's only where it agrees with the CPU."""
    if torch.cuda.is_available():
        return ("cuda", "cpu")
    return ("mps", "cpu") if torch.backends.mps.is_available() and agrees("mps") else ("cpu",)


def doubt() -> str:
    """Why a device of this machine is not used, in a sentence; empty where all are."""
    if torch.cuda.is_available() or not torch.backends.mps.is_available() or agrees("mps"):
        return ""
    return (
        "The Apple GPU of this machine is not used: in a check of one small step it did not compute what the CPU "
        "computes. Everything runs on the CPU."
    )


def describe(device: torch.device) -> str:
    """The name of the device on screen."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return {"cpu": "CPU", "mps": "Apple GPU"}[device.type]


def computes_beside(device: torch.device) -> bool:
    """Whether a device computes while Python goes on, which waits where it asks for a value."""
    return device.type != "cpu"


def check_precision(device: torch.device, precision: str) -> None:
    """Refuse half precision on a device that lacks it."""
    if precision == "float32":
        return
    if device.type == "mps" or (device.type == "cuda" and not torch.cuda.is_bf16_supported()):
        raise UserError(f"precision is {precision!r}, but {describe(device)} lacks it; set precision to float32.")


class _Tensors(pickle.Pickler):
    """Goes through a value of any form and collects its tensors by their ids."""

    def __init__(self) -> None:
        super().__init__(BytesIO())
        self.known: dict[int, Tensor] = {}

    def persistent_id(self, obj: object) -> int | None:
        if not isinstance(obj, Tensor):
            return None
        self.known[id(obj)] = obj
        return id(obj)

    def reducer_override(self, obj: object) -> Any:
        """Functions, such as hooks of a model, hold no tensors of their own; `deepcopy` keeps them as they are."""
        return (object, ()) if isinstance(obj, FunctionType | torch.Generator) else NotImplemented


def on_cpu(value: T, device: torch.device) -> T:
    """A value of any form on a device, such as a model or its answers, copied to the CPU; Python waits once."""
    return _copied(value, torch.device("cpu")) if computes_beside(device) else value


def from_cpu(value: T, device: torch.device) -> T:
    """A value of any form on the CPU, copied to a device; Python waits once."""
    return _copied(value, device) if computes_beside(device) else value


def _copied(value: T, device: torch.device) -> T:
    """A copy of a value whose tensors are on another device, all copied as one; constant axes stay views.

    Each begins at a multiple of 16 bytes, as attention on a GPU reads them.
    """
    tensors = _Tensors()
    tensors.dump(value)
    known = [t for t in tensors.known.values() if t.device != device]
    if not known:
        return value
    cores = [t.detach()[tuple(slice(None) if stride else slice(1) for stride in t.stride())] for t in known]
    flat = [core.flatten().clone(memory_format=torch.contiguous_format).view(torch.uint8) for core in cores]
    filled = [pad(each, (0, -len(each) % 16)) for each in flat]
    parts = torch.cat(filled).to(device).split([len(each) for each in filled])
    copies = {
        id(t): part[: core.nbytes].view(t.dtype).view(core.shape).expand(t.shape)
        for t, core, part in zip(known, cores, parts, strict=True)
    }
    weights = {id(t): nn.Parameter(copies[id(t)], False) for t in known if isinstance(t, nn.Parameter)}
    return deepcopy(value, copies | weights)


@cache
def agrees(name: str) -> bool:
    """Whether a device computes the same loss and gradients as the CPU, and without an error."""
    try:
        pairs = zip(_checked("cpu"), _checked(name), strict=True)
        return all(bool((a - b).abs().max() <= TOLERANCE * (1 + a.abs().max())) for a, b in pairs)
    except (RuntimeError, NotImplementedError, AssertionError, TypeError):
        return False


def _checked(name: str) -> list[Tensor]:
    """The loss and the gradients of a small network with the operations that our models and draws use."""
    rng = torch.Generator().manual_seed(0)
    table, square, wide = (torch.randn(n, 16, generator=rng) for n in (50, 16, 64))
    ids = torch.randint(50, (4, 12), generator=rng).to(name)
    weights = [nn.Parameter(w.to(name)) for w in (table, square, wide)]
    hidden = (0.15 * ids.double()).round().float()  # how many words are hidden is counted in float64
    x = nn.functional.layer_norm(nn.functional.embedding(ids, weights[0]), (16,))
    heads = (x @ weights[1]).unflatten(-1, (2, 8)).transpose(1, 2)
    x = x + scaled_dot_product_attention(heads, heads, heads, is_causal=True).transpose(1, 2).flatten(2)
    mask = (ids == ids[:, :1])[:, None, None] | torch.eye(12, dtype=torch.bool, device=name)
    x = x + scaled_dot_product_attention(heads, heads, heads, attn_mask=mask).transpose(1, 2).flatten(2)
    x = x + gelu(x @ weights[2].T) @ weights[2]
    rows, positions = (ids[:, 1:] % 3 > 0).nonzero(as_tuple=True)
    loss = cross_entropy(x[rows, positions] @ weights[0].T / 16, ids[rows, positions + 1])
    loss.backward()
    return [hidden.cpu(), loss.detach().cpu(), *(w.grad.cpu() for w in weights if w.grad is not None)]


def arrays(tensors: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """Tensors as arrays in memory order, which `safetensors.numpy` takes for granted: it writes others wrong, unsaid.

    `safetensors.torch` leaves a type of ctypes for each size of a tensor in the process, for ever.
    """
    return {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in tensors.items()}
