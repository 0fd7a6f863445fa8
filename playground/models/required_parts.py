"""A model for an objective: the parts that its questions need are read off an example."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Generator, Tensor

from playground.batch import Batch, CooccurrenceTarget
from playground.models.architecture import Architecture
from playground.models.model import LanguageModel


def with_required_parts(shape: Architecture, *examples: Batch) -> Architecture:
    """The same shape with every stream, stack and head that the questions of some examples ask for."""
    parts = [part for example in examples for part in example.with_auxiliary]
    questions = [(part, q) for part in parts for q in part.questions]
    heads = {q.head for _, q in questions}
    labels = {q.head.removeprefix("label:"): len(q.classes) for _, q in questions if q.head.startswith("label:")}
    needs: dict[str, Any] = {
        "two_streams": any(q.stream == "query" for _, q in questions),
        "rtd_head": "replaced" in heads,
        "sbo_head": any(q.head == "vocabulary" and q.reads is not None for _, q in questions),
        "counts": any(isinstance(q.loss, CooccurrenceTarget) for _, q in questions),
        "backward": {"main", "backward"} <= {part.network for part, _ in questions},
    }
    grown: dict[str, Any] = {name: True for name, needed in needs.items() if needed}
    if any(part.decoder is not None for part in parts) and not shape.decoder_layers:
        grown["decoder_layers"] = shape.layers
    if any(part.network == "generator" for part in parts) and not shape.generator_ratio:
        grown["generator_ratio"] = 1.0 if shape.tie_generator == "all" else 0.5
    segments = max(_highest(part.inputs.segment_ids) for part in parts) + 1
    languages = max(_highest(part.inputs.language_ids) for part in parts) + 1
    grown |= {"segments": max(shape.segments, segments)} if segments > 1 else {}
    grown |= {"languages": max(shape.languages, languages)} if languages > 1 else {}
    paired = {
        q.head.removeprefix("label:") for _, q in questions if q.head.startswith("label:") and q.reads is not None
    }
    names = tuple(sorted({*shape.paired, *paired}))
    return replace(shape, labels=tuple({**dict(shape.labels), **labels}.items()), paired=names, **grown)


def _highest(numbers: Tensor) -> int:
    return int(numbers.amax()) if numbers.numel() else 0


def make_model(shape: Architecture, size: int, rng: Generator, words: Sequence[str] = ()) -> LanguageModel:
    """A fresh model for a vocabulary of `size` words; `words` are their spellings where vectors are made of n-grams."""
    return LanguageModel(shape, size, rng, words)
