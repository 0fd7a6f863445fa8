"""The attention weights of every head on one sentence (arXiv:1906.05714), and the pattern that each follows there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from playground.analysis.attention_patterns import habits
from playground.analysis.finding import Coded, Finding, Matrix, Number, Table
from playground.analysis.instrument import Instrument, attends
from playground.analysis.subject import Subject
from playground.analysis.trees.unsupervised import plain_attention
from playground.batch import Batch, begin, token_strings
from playground.knob import knob


@dataclass(frozen=True)
class Settings:
    """The sentence."""

    sentence: str = knob("", why="A sentence of your own; empty for one of the held-out text.")


def attention(subject: Subject, text: str) -> tuple[Batch, Tensor]:
    """A plain text under the mask with which it is read, and the weights `[layers, h, t, t]` of all heads."""
    tokens = subject.sentence(text)
    _, plain = subject.model._readings(tokens)[0]
    return replace(begin(tokens), inputs=plain), plain_attention(subject.model, tokens)[:, :, 0]


def entropy(weights: Tensor) -> Tensor:
    """The mean entropy of the rows of each head in nats, `[layers, h]`."""
    return -(weights * weights.clamp(min=1e-30).log()).sum(-1).mean(-1)


NONE = "none"
"""The pattern of a head that follows none."""


def _counted(number: int) -> tuple[str, ...]:
    return tuple(str(k + 1) for k in range(number))


def _patterns(found: Sequence[str], heads: int, index: np.ndarray) -> Coded:
    """The pattern of the head of every weight, of all of `index` `[4, n]`."""
    names = tuple(dict.fromkeys(found))
    of_head = np.array([names.index(name) for name in found], dtype=np.int8)
    return Coded(names, of_head[index[0].astype(int) * heads + index[1]])


def measure(subject: Subject, settings: Settings) -> Finding:
    """All weights, and the strongest pattern of each head."""
    batch, weights = attention(subject, settings.sentence)
    words = token_strings(batch.inputs.ids[0], batch.inputs.valid[0], batch.tokens.vocabulary)
    scores = habits(batch, {"encoder": weights[:, None]})
    best = {(s.layer, s.head): s for s in reversed(scores) if s.notable}
    layers, heads, length, _ = weights.shape
    strongest = [best.get((layer, head)) for layer in range(layers) for head in range(heads)]
    found = [score.pattern.name if score else NONE for score in strongest]
    mask = batch.inputs.attn_mask
    spread, allowed = entropy(weights), torch.stack([mask.layer(k).dense() for k in range(layers)]).sum(-1)
    labels = Table(
        "Strongest pattern of each head",
        {
            "layer": [layer + 1 for layer in range(layers) for _ in range(heads)],
            "head": [head + 1 for _ in range(layers) for head in range(heads)],
            "pattern": found,
            "weight": [score.weight if score else 0.0 for score in strongest],
            "entropy": [float(each) for each in spread.flatten()],
        },
    )
    named = sum(pattern != NONE for pattern in found)
    uniform = {"uniform attention": float(allowed.double().log().mean())}
    return Finding(
        f"{named} of {layers * heads} heads follow a known pattern in this sentence of {length} tokens.",
        (Number("mean entropy", float(spread.mean()), "nats", uniform),),
        (_grid(weights, words, found), labels),
    )


def _grid(weights: Tensor, words: Sequence[str], found: Sequence[str]) -> Table:
    """All weights `[layers, h, t, t]` as a matrix for each head, with the pattern found in it."""
    layers, heads = weights.shape[:2]
    index = np.indices(weights.shape, dtype=np.int16).reshape(4, -1)
    position = tuple(f"{k + 1} {word}" for k, word in enumerate(words))
    columns = {
        "layer": Coded(_counted(layers), index[0]),
        "head": Coded(_counted(heads), index[1]),
        "query": Coded(position, index[2]),
        "key": Coded(position, index[3]),
        "weight": weights.numpy().ravel(),
        "pattern": _patterns(found, heads, index),
    }
    return Table(
        "Attention of every head", columns,
        Matrix("query", "key", "weight", panel_row="layer", panel_column="head", panel_label="pattern"), unit="weight",
        note="One matrix for each head, a row of matrices for each layer. Rows are queries, columns are keys.",
    )  # fmt: skip


ATTENTION = Instrument(
    name="attention",
    group="Attention heads",
    question="Which words does each head attend to in this sentence?",
    source="arXiv:1906.05714; patterns after arXiv:1906.04341, sec. 3",
    measure=measure,
    rows=("V26",),
    needs=(attends,),
    settings=Settings(),
)
