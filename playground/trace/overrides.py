"""Cells of an attention mask and the loss mask that a person painted over those of an objective."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from playground import leaks
from playground.batch import AttentionMask, Batch, Stream
from playground.errors import UserError
from playground.objectives.ask.loss_mask import SCORED, LossMaskOverride, answerable, judge
from playground.objectives.see.painted import in_cells
from playground.objectives.steps import Step
from playground.trace import frames
from playground.trace.rebuild import Rebuilt

Cells = Mapping[str, Iterable[tuple[int, int, bool]]]
"""For a matrix by its name on the stage: query, key (both 0-based, padding not counted) and whether it is open.

The loss mask is a matrix of one row under the name "scored": 0, the position, and whether it is scored.
"""


def natural(batch: Batch, row: int = 0) -> Mapping[str, Sequence[Sequence[int]]]:
    """What can be painted, as the objective has it: the cells of every matrix, and the loss mask."""
    found = frames.attention_mask(batch, row)
    if not batch.targets:
        return found
    scored = frames.answers(batch, row)[1]
    return {**found, SCORED: [[scored[position] for position in _answered(batch, row)]]}


def painted(batch: Batch, cells: Cells, row: int = 0) -> Batch:
    """The same batch with these cells of one row's matrices open or closed."""
    for name, changes in cells.items():
        if name == SCORED:
            last = {position + 1: counts for _, position, counts in changes}
            counts, skips = (tuple(p for p, value in last.items() if value == chosen) for chosen in (True, False))
            batch = judge(batch, LossMaskOverride(counts, skips), row)
        else:
            batch = _with(batch, name, list(changes), row)
    return batch


def repainted(made: Rebuilt, cells: Cells) -> Rebuilt:
    """A rebuilt text with its matrices painted from the see stage on, and the new verdict."""
    _refuse_what_is_not_asked(made.batch, cells.get(SCORED, ()))
    steps: list[Step] = []
    seen = False
    for step in made.steps:
        seen = seen or (step.verb == "see" and step.part == 0)
        steps.append(replace(step, batch=painted(step.batch, cells)) if seen and step.part == 0 else step)
    return replace(made, steps=tuple(steps), verdict=leaks.check(steps[-1].batch))


def _answered(batch: Batch, row: int) -> list[int]:
    """The positions of the stream that answers, without padding."""
    return batch.answering.valid[row].nonzero().flatten().tolist()


def _refuse_what_is_not_asked(batch: Batch, changes: Iterable[tuple[int, int, bool]], row: int = 0) -> None:
    positions = _answered(batch, row) if batch.targets else []
    for _, at, _counts in changes:
        if not 0 <= at < len(positions):
            raise UserError(f"There is no answer {at + 1} to score; there are {len(positions)} positions.")
        if not any(bool(answerable(batch, target)[row, positions[at]]) for target in batch.targets):
            raise UserError(f"Nothing is asked at position {at + 1}, so it has no answer that could be scored.")


def _with(batch: Batch, name: str, changes: list[tuple[int, int, bool]], row: int) -> Batch:
    if name not in frames.attention_mask(batch, row):
        known = ", ".join(frames.attention_mask(batch, row))
        raise UserError(f"There is no matrix {name!r} to paint; this objective has: {known}.")
    if name.endswith(frames.ABOVE):
        raise UserError("Paint the matrices of the first layer; those above follow the turned order.")
    inputs, decoder = batch.inputs, batch.decoder
    if name in ("decoder", "cross"):
        assert decoder is not None
        field, keys = ("attn_mask", decoder) if name == "decoder" else ("cross_attn_mask", inputs)
        return replace(batch, decoder=replace(decoder, **{field: _paint(decoder, keys, field, changes, row)}))
    field = "query_attn_mask" if name == "query" else "attn_mask"
    return replace(batch, inputs=replace(inputs, **{field: _paint(inputs, inputs, field, changes, row)}))


def _paint(queries: Stream, keys: Stream, field: str, changes: list[tuple[int, int, bool]], row: int) -> AttentionMask:
    """The levels stay where painting only closes cells; an opened cell needs a matrix of its own."""
    mask: AttentionMask = getattr(queries, field)
    cells = mask.dense().expand(len(queries.ids), -1, -1).clone()
    rows, columns = (stream.valid[row].nonzero().flatten() for stream in (queries, keys))
    for query, key, is_open in changes:
        if not (0 <= query < len(rows) and 0 <= key < len(columns)):
            raise UserError(
                f"The painted cell {query + 1}.{key + 1} is outside the matrix of {len(rows)} by {len(columns)}."
            )
        cells[row, rows[query], columns[key]] = bool(is_open)
    closing = replace(mask, form="levels", overrides=cells, stretches=None)
    return closing if bool((closing.dense() == cells).all()) else in_cells(cells, mask.odd_layers)
