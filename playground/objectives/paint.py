"""The mask painted by hand: single cells of a visibility matrix opened or closed, whatever the objective says."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from playground import frames, leaks
from playground.example import Example, Stream, Visible
from playground.objectives.objective import Step
from playground.objectives.rebuild import Rebuilt
from playground.objectives.see.painted import in_cells
from playground.refusal import Refusal

Cells = Mapping[str, Iterable[tuple[int, int, bool]]]
"""For a matrix by its name on the stage: reader, read (both 0-based, padding not counted) and whether it is open."""


def painted(example: Example, cells: Cells, row: int = 0) -> Example:
    """The same example with these cells of one row's matrices open or closed; the leak check and a model obey them."""
    for name, wanted in cells.items():
        example = _with(example, name, list(wanted), row)
    return example


def repainted(made: Rebuilt, cells: Cells) -> Rebuilt:
    """A rebuilt text with its matrices painted from the step on that draws them, and the verdict about what is left."""
    steps: list[Step] = []
    seen = False
    for step in made.steps:
        seen = seen or (step.verb == "see" and step.part == 0)
        steps.append(replace(step, example=painted(step.example, cells)) if seen and step.part == 0 else step)
    return replace(made, steps=tuple(steps), verdict=leaks.check(steps[-1].example))


def _with(example: Example, name: str, wanted: list[tuple[int, int, bool]], row: int) -> Example:
    inputs, decoder = example.inputs, example.decoder
    if name not in frames.visible(example, row):
        known = ", ".join(frames.visible(example, row))
        raise Refusal(f"There is no matrix {name!r} to paint; this objective has: {known}.")
    match name:
        case "query":
            return replace(example, inputs=replace(inputs, query_visible=_paint(inputs, "query_visible", wanted, row)))
        case _ if name.endswith(frames.ABOVE):
            raise Refusal("Paint the matrices of the first layer; those above follow the turned order.")
        case "decoder":
            assert decoder is not None
            return replace(example, decoder=replace(decoder, visible=_paint(decoder, "visible", wanted, row)))
        case "cross":
            assert decoder is not None
            return replace(example, decoder=replace(decoder, cross=_paint(decoder, "cross", wanted, row, inputs)))
        case _:
            return replace(example, inputs=replace(inputs, visible=_paint(inputs, "visible", wanted, row)))


def _paint(
    readers: Stream, which: str, wanted: list[tuple[int, int, bool]], row: int, read: Stream | None = None
) -> Visible:
    """The levels stay where painting only closes cells; an opened cell needs a matrix of its own."""
    seen: Visible = getattr(readers, which)
    cells = seen.dense().expand(len(readers.ids), -1, -1).clone()
    rows, columns = (stream.real[row].nonzero().flatten() for stream in (readers, read or readers))
    for reader, place, is_open in wanted:
        if not (0 <= reader < len(rows) and 0 <= place < len(columns)):
            raise Refusal(
                f"The painted cell {reader + 1}.{place + 1} is outside the matrix of {len(rows)} by {len(columns)}."
            )
        cells[row, rows[reader], columns[place]] = bool(is_open)
    closing = replace(seen, form="levels", painted=cells)
    return closing if bool((closing.dense() == cells).all()) else in_cells(cells, seen.above)
