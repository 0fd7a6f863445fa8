"""Group-wise quantization after training, down to one bit."""

from dataclasses import dataclass

from torch import Generator

from playground.compression.classifier import matrices
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.quantization import FULL, groups_of, on_grids
from playground.knob import knob


@dataclass(frozen=True)
class QuantiseGroups:
    """Round every matrix to 2^b levels, with a scale for each of some groups of rows."""

    bits: int = knob(4, 1, FULL, unit="bits", why="Bits of the weights inside the layers; 32: not rounded.")
    embedding_bits: int = knob(8, 1, FULL, unit="bits", why="Bits of the embedding tables.")
    groups: int = knob(4, 1, 128, unit="groups of rows", why="Each has a scale; 4 is one for each head here.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        inside = matrices(start.classifier, embeddings=False)
        bits = {n: self.bits if n in inside else self.embedding_bits for n in matrices(start.classifier)}
        return on_grids(start, bits, groups_of(start.classifier, "group", self.groups))


QUANTIZATION = Method(
    name="quantization",
    aliases=("quantisation", "group-wise quantization", "GWQ"),
    family="quantization",
    rows=("C05", "C07"),
    idea="Round weights to few levels; groups of rows have a scale of their own.",
    source="Shen et al. (Q-BERT), arXiv:1909.05840",
    unlike_paper="after training, where the paper continues it; only weights are rounded; more than 16 bits are 32",
    step=QuantiseGroups(),
    identity="bits=32, embedding_bits=32",
)
