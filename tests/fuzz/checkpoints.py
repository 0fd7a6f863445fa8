"""Damaged checkpoints: bytes that were flipped or cut, a header of other types and sizes, tensors that do not fit."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from playground.corpora.corpus import pick
from playground.finetuning.run.base import from_checkpoint
from playground.training import checkpoint
from tests.fuzz import material, odd
from tests.fuzz.law import Case, Kind

FILE = "runs/run/checkpoint.safetensors"
ODD_NUMBERS = (-1, -(2**31), 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 10**6)

Parts = tuple[dict[str, Any], dict[str, Tensor]]
"""The header and the tensors of a checkpoint."""


def draw(random: Random, home: Path) -> Case:
    """A checkpoint with one thing wrong."""
    name = random.choice(material.RUNS)
    damaged, done = random.choice(WAYS)(random, material.run(name)[FILE])
    (home / "run.safetensors").write_bytes(damaged)
    return Case(f"{name}: {done}", lambda: _used(home / "run.safetensors"))


def _used(path: Path) -> None:
    """Load it, and do with it what a person may do next: measure, train on, take it as a base."""
    saved = checkpoint.load(path)
    learner, held_out = saved.learner, pick(saved.corpus.held_out, torch.arange(min(2, len(saved.corpus.held_out.ids))))
    learner.evaluate(saved.corpus.held_out)
    learner.learn(learner.batch(held_out))
    base = from_checkpoint(saved)
    assert len(base.measured.ids)
    checkpoint.save(path.with_name("again.safetensors"), learner, saved.tokenizer, saved.corpus)
    path.with_name("again.safetensors").unlink()


def _bytes(random: Random, content: bytes) -> tuple[bytes, str]:
    return odd.spoiled(random, content, random.choice((8, 200, 4_000, 0)))


def _header(random: Random, content: bytes) -> tuple[bytes, str]:
    """The header that safetensors itself reads: offsets, shapes, types, and what it knows of the file."""
    length = int.from_bytes(content[:8], "little")
    header, done = odd.replaced(random, json.loads(content[8 : 8 + length]))
    if random.random() < 0.2:
        header, done = header | {"__metadata__": odd.plain(random)}, "other metadata"
    written = json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + content[8 + length :], f"header {done}"


def _about(random: Random, content: bytes) -> tuple[bytes, str]:
    """One value of what we say of the run, or all of it."""
    about, tensors = _parts(content)
    if random.random() < 0.15:
        told = random.choice((json.dumps(odd.plain(random)), odd.nested(random), odd.value(random)))
        return save(tensors, {"playground": told.encode(errors="replace").decode()}), f"about = {told[:80]}"
    about.pop("tokenizer") if random.random() < 0.01 else None
    about, done = odd.replaced(random, about)
    return save(tensors, {"playground": json.dumps(about)}), f"about {done}"


def _first(random: Random, content: bytes) -> tuple[bytes, str]:
    """One of the first values of what we say of the run: its step, its seed, its corpus, its recipe ..."""
    about, tensors = _parts(content)
    name = random.choice([name for name in about if name != "tokenizer"])
    inner = about[name] if isinstance(about[name], dict) and random.random() < 0.8 else about
    name = random.choice(list(inner)) if inner is not about else name
    inner[name] = odd.plain(random)
    return save(tensors, {"playground": json.dumps(about)}), f"about {name} = {json.dumps(inner[name])[:80]}"


def _tensor(random: Random, content: bytes) -> tuple[bytes, str]:
    about, tensors = _parts(content)
    name = random.choice(list(tensors))
    if random.random() < 0.6:
        name = random.choice([name for name in tensors if name.startswith("held_out")])
    tensors[name], done = random.choice(TENSORS)(random, tensors[name].clone())
    if random.random() < 0.1:
        tensors[odd.value(random).encode(errors="replace").decode()[:40] or "x"] = tensors.pop(name)
        done += ", renamed"
    return save(tensors, {"playground": json.dumps(about)}), f"{name} {done}"


def _out_of_range(random: Random, tensor: Tensor) -> tuple[Tensor, str]:
    flat, number = tensor.flatten(), random.choice(ODD_NUMBERS)
    if not flat.numel():
        return tensor, "empty as it was"
    if tensor.is_floating_point():
        flat[random.randrange(len(flat))] = random.choice((float("nan"), float("inf"), 1e38))
    else:
        number = max(torch.iinfo(tensor.dtype).min, min(torch.iinfo(tensor.dtype).max, number))
        flat[random.randrange(len(flat))] = number
    return flat.view(tensor.shape).contiguous(), f"holds {number}"


def _shape(random: Random, tensor: Tensor) -> tuple[Tensor, str]:
    ways: list[Callable[[Tensor], Tensor]] = [
        lambda t: t.flatten(), lambda t: t[:0], lambda t: t[:1], lambda t: t[None], lambda t: torch.cat([t, t]),
        lambda t: t.new_zeros(()), lambda t: t.new_zeros(3, 5, 2), lambda t: t.transpose(0, -1),
    ]  # fmt: skip
    made = random.choice(ways)(tensor if tensor.dim() else tensor[None]).contiguous().clone()
    return made, f"of shape {list(made.shape)}"


def _kind(random: Random, tensor: Tensor) -> tuple[Tensor, str]:
    kind = random.choice(
        (torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.bool, torch.bfloat16)
    )
    return tensor.to(kind), f"as {kind}"


TENSORS = (_out_of_range, _shape, _kind)
WAYS = (_bytes, _header, _about, _first, _tensor, _tensor)


@cache
def _read(content: bytes) -> Parts:
    length = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["playground"]), load(content)


def _parts(content: bytes) -> Parts:
    about, tensors = _read(content)
    return json.loads(json.dumps(about)), dict(tensors)


CHECKPOINTS = Kind("checkpoints", 300, draw)
