"""Random generators that follow from a seed and a path of names, so that nothing depends on what ran before."""

import hashlib
import operator

import torch
from torch import Generator

from playground.errors import UserError
from playground.parsing import LARGEST


def derive(seed: int, *path: object) -> int:
    """A 63-bit seed for one purpose, the same on every machine: `derive(7, "corrupt", 12)`."""
    try:
        number = operator.index(seed)
    except TypeError:
        raise UserError(f"seed is {seed!r}; it must be a whole number.") from None
    digest = hashlib.blake2b(repr((number, *path)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def next_seed(seed: int) -> int:
    """The seed after this one; after the largest comes 0."""
    return seed + 1 if seed < LARGEST else 0


def generator(seed: int, *path: object, device: torch.device = torch.device("cpu")) -> Generator:
    """A fresh generator for one purpose; step 12 of a run needs nothing from steps 0 to 11."""
    return Generator(device=device).manual_seed(derive(seed, *path))
