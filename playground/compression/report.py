"""The result of a comparison of pipelines as files: a table, and everything as JSON."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from playground.compression.compare import Compression

Facts = Mapping[str, Any]


def table(result: Compression, facts: Facts) -> str:
    """One line for each pipeline with the means of all meters, as CSV."""
    written = io.StringIO()
    rows = [_row(row) for row in facts["pipelines"]]
    writer = csv.DictWriter(written, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _row(row: Facts) -> dict[str, Any]:
    accuracy, kept, loss = row["accuracy"], row["kept"], row["pretraining_loss"]
    seconds = {
        f"seconds_batch_{batch}{end}": each[key]
        for batch, each in row["latency"].items()
        for end, key in (("", "median"), ("_low", "low"), ("_high", "high"), ("_share", "share"))
    }
    return {
        "pipeline": row["name"], "accuracy": accuracy["mean"], "accuracy_sd": accuracy["sd"], "kept": kept["mean"],
        "kept_low": kept["low"], "kept_high": kept["high"], "pretraining_loss": loss and loss["mean"],
        "parameters": row["parameters"], "nonzero": row["nonzero"], "bytes": row["bytes"], "memory": row["memory"],
        "operations": row["operations"], "layers_used": row["layers_used"], **seconds,
        "flipped": row["flipped"]["mean"],
    }  # fmt: skip


def kept_in_words(share: Mapping[str, float | None]) -> str:
    """The share of the score above chance that is kept, with its interval; a dash where the model only guessed."""
    if share["mean"] is None:
        return "–"
    bounds = "" if share["low"] is None else f" ({share['low']:.0%} to {share['high']:.0%})"
    return f"{share['mean']:.0%}{bounds}"


def everything(result: Compression, facts: Facts) -> str:
    """All facts, with the sizes of matrices, the flipped answers and the curves of the first seed, as JSON."""
    first = {name: some[0] for name, some in result.outcomes.items()}
    details = {
        name: {
            "matrices": [vars(matrix) for matrix in outcome.size.matrices],
            "flips": [vars(flip) for flip in outcome.flips],
            "curves": outcome.curves,
        }
        for name, outcome in first.items()
    }
    return json.dumps({**facts, "details": details}, indent=1)


FILES: dict[str, Callable[[Compression, Facts], str]] = {"compression.csv": table, "compression.json": everything}
"""What is written of a result."""
