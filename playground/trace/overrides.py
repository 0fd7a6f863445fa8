"""What is painted by hand, whatever the objective says: cells of a visibility matrix, and which answers count."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from playground import leaks
from playground.batch import AttentionMask, Batch, Stream
from playground.errors import Refusal
from playground.objectives.ask.judged import GRADED, Judged, answerable, judge
from playground.objectives.objective import Step
from playground.objectives.see.painted import in_cells
from playground.trace import frames
from playground.trace.rebuild import Rebuilt

Cells = Mapping[str, Iterable[tuple[int, int, bool]]]
"""For a matrix by its name on the stage: reader, read (both 0-based, padding not counted) and whether it is open.

Under the name "graded" the answers stand as one row: 0, the place of the answer, and whether it counts.
"""


def natural(example: Batch, row: int = 0) -> Mapping[str, Sequence[Sequence[int]]]:
    """What can be painted, as the objective has it: the cells of every matrix, and whether each answer counts."""
    found = frames.visible(example, row)
    if not example.questions:
        return found
    counts = frames.answers(example, row)[1]
    return {**found, GRADED: [[counts[place] for place in _answered(example, row)]]}


def painted(example: Batch, cells: Cells, row: int = 0) -> Batch:
    """The same example with these cells of one row's matrices open or closed; the leak check and a model obey them."""
    for name, wanted in cells.items():
        paint = _judged if name == GRADED else partial(_with, name=name)
        example = paint(example, wanted=list(wanted), row=row)
    return example


def repainted(made: Rebuilt, cells: Cells) -> Rebuilt:
    """A rebuilt text with its matrices painted from the step on that draws them, and the verdict about what is left."""
    _refuse_what_is_not_asked(made.example, cells.get(GRADED, ()))
    steps: list[Step] = []
    seen = False
    for step in made.steps:
        seen = seen or (step.verb == "see" and step.part == 0)
        steps.append(replace(step, example=painted(step.example, cells)) if seen and step.part == 0 else step)
    return replace(made, steps=tuple(steps), verdict=leaks.check(steps[-1].example))


def _answered(example: Batch, row: int) -> list[int]:
    """The places of the stream at which the questions are answered, padding left out."""
    return example.answering.valid[row].nonzero().flatten().tolist()


def _judged(example: Batch, wanted: list[tuple[int, int, bool]], row: int) -> Batch:
    """The example with these answers graded or not, as far as they are asked by now."""
    last = {at + 1: counts for _, at, counts in wanted}
    some = {counts: tuple(place for place, c in last.items() if c == counts) for counts in (True, False)}
    return judge(example, Judged(some[True], some[False]), row)


def _refuse_what_is_not_asked(example: Batch, wanted: Iterable[tuple[int, int, bool]], row: int = 0) -> None:
    places = _answered(example, row) if example.questions else []
    for _, at, _counts in wanted:
        if not 0 <= at < len(places):
            raise Refusal(f"There is no answer {at + 1} to grade; there are {len(places)} places.")
        if not any(bool(answerable(example, q)[row, places[at]]) for q in example.questions):
            raise Refusal(f"Nothing is asked at place {at + 1}, so it has no answer that could be scored.")


def _with(example: Batch, name: str, wanted: list[tuple[int, int, bool]], row: int) -> Batch:
    inputs, decoder = example.inputs, example.decoder
    if name not in frames.visible(example, row):
        known = ", ".join(frames.visible(example, row))
        raise Refusal(f"There is no matrix {name!r} to paint; this objective has: {known}.")
    match name:
        case "query":
            return replace(
                example, inputs=replace(inputs, query_attn_mask=_paint(inputs, "query_attn_mask", wanted, row))
            )
        case _ if name.endswith(frames.ABOVE):
            raise Refusal("Paint the matrices of the first layer; those above follow the turned order.")
        case "decoder":
            assert decoder is not None
            return replace(example, decoder=replace(decoder, attn_mask=_paint(decoder, "attn_mask", wanted, row)))
        case "cross":
            assert decoder is not None
            return replace(
                example,
                decoder=replace(decoder, cross_attn_mask=_paint(decoder, "cross_attn_mask", wanted, row, inputs)),
            )
        case _:
            return replace(example, inputs=replace(inputs, attn_mask=_paint(inputs, "attn_mask", wanted, row)))


def _paint(
    readers: Stream, which: str, wanted: list[tuple[int, int, bool]], row: int, read: Stream | None = None
) -> AttentionMask:
    """The levels stay where painting only closes cells; an opened cell needs a matrix of its own."""
    seen: AttentionMask = getattr(readers, which)
    cells = seen.dense().expand(len(readers.ids), -1, -1).clone()
    rows, columns = (stream.valid[row].nonzero().flatten() for stream in (readers, read or readers))
    for reader, place, is_open in wanted:
        if not (0 <= reader < len(rows) and 0 <= place < len(columns)):
            raise Refusal(
                f"The painted cell {reader + 1}.{place + 1} is outside the matrix of {len(rows)} by {len(columns)}."
            )
        cells[row, rows[reader], columns[place]] = bool(is_open)
    closing = replace(seen, form="levels", overrides=cells)
    return closing if bool((closing.dense() == cells).all()) else in_cells(cells, seen.odd_layers)
