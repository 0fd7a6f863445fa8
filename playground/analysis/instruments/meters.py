"""What a model costs: parameters, operations, memory and seconds, and how these grow with the length of the text."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch

from playground.analysis.finding import Bars, Curve, Finding, Number, Table
from playground.analysis.instrument import Instrument
from playground.analysis.subject import Subject
from playground.batch import Tokens
from playground.knob import knob
from playground.models.cost import forward_flops, positions
from playground.models.groups import layer_groups

REPEATS = 3
"""Passes of which the median time is taken."""


@dataclass(frozen=True)
class Settings:
    """The lengths."""

    longest: int = knob(
        512, 32, 2_048, unit="tokens", why="The last length of the sweep; each is twice the one before."
    )
    rows: int = knob(4, 1, 64, unit="texts", why="Texts that are read at once.")


def exponent(lengths: list[int], costs: list[float]) -> float:
    """The power of the length with which a cost grows: the slope of a straight line through both logarithms."""
    return float(np.polyfit(np.log(lengths), np.log(costs), 1)[0])


def measure(subject: Subject, settings: Settings) -> Finding:
    """The parts of the model, the cost of a pass over held-out text, and a sweep over lengths of a plain text."""
    model, batch = subject.model, subject.batch(8)
    sizes = {
        group: sum(model.get_parameter(name).numel() for name in names) for group, names in layer_groups(model).items()
    }
    total, flops = sum(sizes.values()), forward_flops(model, batch) / max(1, positions(batch))
    most = settings.longest
    if model.shape.positions == "learned":
        most = min(most, model.shape.max_position_embeddings)
    lengths = [length for k in range(3, 12) if (length := 2**k) <= most]
    seconds = [_seconds(model.features, _text(subject, length, settings.rows)) for length in lengths]
    looks = [_attention_flops(subject, length) * settings.rows for length in lengths]
    power = exponent(lengths[-3:], seconds[-3:]) if len(lengths) > 1 else float("nan")
    sweep = {
        "length": lengths, "seconds": seconds, "operations of attention": looks,
        "tokens a second": [settings.rows * n / s for n, s in zip(lengths, seconds, strict=True)],
    }  # fmt: skip
    return Finding(
        f"{total:,} parameters; a token costs {flops:,.0f} operations; at the longest texts the time grows with the "
        f"length to the power of {power:.2f}.",
        (
            Number("parameters", total, "numbers"),
            Number("memory of the weights", total * 4 / 2**20, "MiB in float32"),
            Number("operations a token", flops, "FLOPs"),
            Number("growth with the length", power, "exponent", {"linear": 1.0, "quadratic": 2.0}),
        ),
        (
            Table("Parameters by layer", {"layer": list(sizes), "parameters": list(sizes.values())},
                  Bars("layer", "parameters"), "numbers"),
            Table("Time of one pass by length", sweep, Curve("length", "seconds"), "seconds",
                  note=f"{settings.rows} texts at once; the median of {REPEATS} passes on this machine."),
        ),
    )  # fmt: skip


def _text(subject: Subject, length: int, rows: int) -> Tokens:
    """Texts of a length, out of random words."""
    words, rng = subject.tokenizer.words, subject.rng("meters", length)
    specials = subject.tokenizer.specials
    ids = specials.nth_word(torch.randint(len(specials.words), (rows, length), generator=rng))
    zero = torch.zeros_like(ids)
    return Tokens(
        ids, torch.full((rows,), length), zero, zero, subject.tokenizer.specials, vocabulary=words, padded=False
    )


def _attention_flops(subject: Subject, length: int) -> float:
    """The operations of both products of attention in all layers, masked cells included; 0 without attention."""
    shape = subject.model.shape
    return 4.0 * shape.layers * length**2 * shape.width if shape.kind == "transformer" else 0.0


@torch.no_grad()
def _seconds(run: Callable[[Tokens], object], text: Tokens) -> float:
    """The median time of a few passes over a text, after one that warms up."""
    run(text)
    found = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        run(text)
        found.append(time.perf_counter() - began)
    return median(found)


METERS = Instrument(
    name="meters",
    group="Meters",
    question="What does the model cost, and how does the cost grow with the length of the text?",
    source="arXiv:2001.08361, sec. 2.1, for the operations; arXiv:1706.03762, table 1, for the growth",
    measure=measure,
    rows=("V51",),
    settings=Settings(),
    repeatable=False,
)
