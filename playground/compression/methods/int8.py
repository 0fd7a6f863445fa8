"""Dynamic 8-bit quantization: weights are rounded once, what they are multiplied with is rounded as it comes."""

from dataclasses import dataclass

from torch import Generator

from playground.compression.classifier import matrices
from playground.compression.grids import round_activations
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.quantization import FULL, groups_of, on_grids
from playground.knob import knob


@dataclass(frozen=True)
class DynamicInt8:
    """Weights as whole numbers of 8 bits with a scale; inputs of linear layers are rounded to 8 bits in each batch."""

    granularity: str = knob("channel", choices=("tensor", "channel"), why="One scale for each matrix, or for each row.")
    bits: int = knob(8, 2, FULL, unit="bits", why="Bits of weights and of activations; 32: not rounded.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        if self.bits == FULL:
            return start
        bits = dict.fromkeys(matrices(start.classifier), self.bits)
        made = on_grids(start, bits, groups_of(start.classifier, self.granularity))
        round_activations(made.classifier, self.bits)
        return made


INT8 = Method(
    name="int8",
    aliases=("dynamic quantization", "DQ", "8-bit"),
    family="quantization",
    rows=("C05", "C06"),
    idea="Store weights as 8-bit integers and round activations to 8 bits; nothing is trained.",
    source="Zafrir et al., arXiv:1910.06188 (their baseline); torch's quantize_dynamic",
    unlike_paper="rounded numbers are multiplied in float32, so that the file is smaller and the clock shows no gain",
    step=DynamicInt8(),
    identity="bits=32",
)
