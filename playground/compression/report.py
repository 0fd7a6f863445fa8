"""The result of a comparison of pipelines as files: a table, and everything as JSON."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from playground.compression.compare import Compression, CompressionFacts, Kept, PipelineFacts
from playground.compression.lost_words import LostWords
from playground.compression.meters import Flip, WeightMatrix
from playground.finetuning.report.page import csv_text, write_files
from playground.parsing import dump_json


class PipelineDetails(TypedDict):
    """What a pipeline did to the model of the first seed: its matrices, changed answers, lost words, and curves."""

    matrices: tuple[WeightMatrix, ...]
    flips: tuple[Flip, ...]
    lost_words: LostWords
    curves: Mapping[str, Any]


class CompressionReport(CompressionFacts):
    """What compression.json holds."""

    details: dict[str, PipelineDetails]


def table(result: Compression, facts: CompressionFacts) -> bytes:
    """One line for each pipeline with the means of all meters, as CSV."""
    rows = [_row(row) for row in facts["pipelines"]]
    return csv_text([rows[0], *(row.values() for row in rows)]).encode()


def _row(row: PipelineFacts) -> dict[str, str | float | None]:
    accuracy, kept, loss = row["accuracy"], row["kept"], row["pretraining_loss"]
    seconds: dict[str, float] = {}
    for batch, latency in row["latency"].items():
        name = f"seconds_batch_{batch}"
        seconds |= {name: latency["median"], f"{name}_low": latency["low"], f"{name}_high": latency["high"]}
        seconds[f"{name}_share"] = latency["share"]
    return {
        "pipeline": row["name"], "accuracy": accuracy["mean"], "accuracy_sd": accuracy["sd"], "kept": kept["mean"],
        "kept_low": kept["low"], "kept_high": kept["high"], "pretraining_loss": loss and loss["mean"],
        "parameters": row["parameters"], "nonzero": row["nonzero"], "bytes": row["bytes"], "memory": row["memory"],
        "operations": row["operations"], "layers_used": row["layers_used"], **seconds,
        "flipped": row["flipped"]["mean"],
    }  # fmt: skip


def kept_in_words(share: Kept) -> str:
    """The share of the score above chance that is kept, with its interval; a dash where the model only guessed."""
    if share["mean"] is None:
        return "–"
    bounds = f" ({share['low']:.0%} to {share['high']:.0%})" if share["low"] is not None else ""
    return f"{share['mean']:.0%}{bounds}"


def everything(result: Compression, facts: CompressionFacts) -> bytes:
    """All facts, with the sizes of matrices, the flipped answers and the curves of the first seed, as JSON."""
    details: dict[str, PipelineDetails] = {
        name: {
            "matrices": first.size.matrices,
            "flips": first.flips,
            "lost_words": first.lost_words,
            "curves": first.curves,
        }
        for name, (first, *_) in result.outcomes.items()
    }
    report: CompressionReport = {**facts, "details": details}
    return dump_json(report, indent=1).encode()


FILES: dict[str, Callable[[Compression, CompressionFacts], bytes]] = {
    "compression.csv": table,
    "compression.json": everything,
}
"""Every file of a `Compression`, by its name."""


def write(result: Compression, facts: CompressionFacts, folder: Path) -> None:
    """Write every file into a folder."""
    write_files(folder, {name: make(result, facts) for name, make in FILES.items()})
