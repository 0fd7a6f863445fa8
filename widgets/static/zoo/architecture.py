"""The diagram of an architecture: from what it reads at the bottom to what it answers at the top."""

from collections.abc import Iterator, Sequence
from html import escape

from playground.models import Architecture
from playground.objectives import Objective
from widgets.design_tokens import BLUE, GREEN, GREY, ORANGE, PURPLE
from widgets.static.svg import BOLD, rect, words

WIDE, GAP, LINE, CELL, CELLS = 330, 16, 15, 7, 5
"""Width of the picture, room between boxes, height of a line, and side and number of the cells of a mask, in pixels."""

Box = tuple[str, tuple[str, ...], str, str]  # title, lines, colour, and how a stack reads ("" where it is none)

FAINT = ' fill-opacity=".7"'


def markup(model: Architecture, objective: Objective) -> str:
    """The boxes of an encoder or of one stack, a decoder's beside it, and what the objective asks above both."""
    stacks = [_stack(model, decoder=False)]
    stacks += [_stack(model, decoder=True)] if model.decoder_layers else []
    below, above = (
        [*_inputs(model)],
        (f"answers to {objective.name}", tuple(_paired(objective.target_names)), ORANGE, ""),
    )
    each = (WIDE - GAP * (len(stacks) - 1)) / len(stacks)
    heights = [_height(above), max(map(_height, stacks)), *map(_height, reversed(below))]
    parts, y = [_box(above, 0, 0, WIDE, heights[0])], heights[0] + GAP
    middles = [position * (each + GAP) + each / 2 for position in range(len(stacks))]
    parts += [_box(stack, x - each / 2, y, each, heights[1]) for stack, x in zip(stacks, middles, strict=True)]
    parts.append(_arrow(middles[-1], y))  # what writes answers
    if model.decoder_layers:
        parts.append(_across(each, y + heights[1] / 2))
    y += heights[1] + GAP
    for box, height in zip(reversed(below), heights[2:], strict=True):
        parts += [*(_arrow(x, y) for x in middles), _box(box, 0, y, WIDE, height)]
        middles, y = [WIDE / 2], y + height + GAP
    said = "; ".join(f"{title}: {', '.join(lines)}" for title, lines, *_ in (*below, *stacks, above))
    return (
        f'<svg viewBox="-1 -1 {WIDE + 2} {y - GAP + 2}" width="{WIDE + 2}" style="max-width:100%;height:auto" '
        f'role="img" aria-label="From below: {escape(said)}">{"".join(parts)}</svg>'
    )


def _inputs(model: Architecture) -> Iterator[Box]:
    """What is read, and how it becomes vectors; and a generator, which changes it first."""
    if model.generator_ratio:
        lines = (f"{model.generator_ratio:.2g} of the width; proposes words, left out after training",)
        yield "generator", lines, GREY, ""
    if model.kind == "static":
        return
    lines = [f"{model.table_width} numbers for each word"]
    lines += [f"projected to {model.width}"] if model.embedding_size else []
    lines += ["from characters, by convolutions"] if model.char_cnn else []
    transformer = model.kind == "transformer"
    lines += [f"{model.positions} positions"] if transformer else []
    lines += [f"{model.segments} segments"] if model.segments else []
    lines += [f"{model.languages} languages"] if model.languages else []
    lines = [*_paired(lines)]
    if model.tie_generator == "gradient-disentangled":
        lines += ["E_G of the generator, without gradient, plus own E_Δ"]
    yield "embeddings", tuple(lines), GREEN, ""


def _paired(lines: Sequence[str]) -> Iterator[str]:
    """Two short lines as one."""
    for at in range(0, len(lines), 2):
        yield ", ".join(lines[at : at + 2])


def _stack(model: Architecture, decoder: bool) -> Box:
    if model.kind == "static":
        made = "sums of character n-grams" if model.ngrams else f"{model.width} numbers for each word"
        if model.window_radius:
            around = f"over {model.window_radius} words on both sides"
            return "a table of word vectors", (made, "a hidden layer with tanh", around), BLUE, ""
        return "two tables of word vectors", ("one for the word, one for its neighbours", made), BLUE, ""
    layers = model.decoder_layers if decoder else model.layers
    name = "decoder" if decoder else "recurrent network" if model.recurrent else model.stacks[0]
    way = "left to right" if decoder else "both apart" if model.backward else model.attention
    kind = model.kind.upper() if model.recurrent else model.kind
    lines = [f"{layers} {kind} layers", f"width {model.width}"]
    if model.kind == "transformer":
        lines += [f"{model.heads} heads", f"norm {'before' if model.norm_first else 'after'} each part"]
        window = model.attention_window
        lines += [f"bands of {window} positions", "in every second layer"] if window else []
        lines += SHARED[model.layer_sharing]
        lines += ["two streams: with and without the word"] if model.two_streams else []
    if model.kind == "window":
        lines += [f"{len(model.window_offsets)} words side by side", "tanh"]
    lines += ["the maximum of all states", "represents the text"] if model.max_pooling and not decoder else []
    lines = [*(lines if model.decoder_layers else _paired(lines)), *_further(model)]
    return name, tuple(lines), PURPLE if decoder else BLUE, way


def _further(model: Architecture) -> Iterator[str]:
    """The layers for the words after the next one, which only pre-training reads."""
    if number := model.mtp_num_layers:
        where = "after them, which reads the next word" if model.mtp_sequential else "parallel to the last one"
        yield f"{number} more layer{'s' * (number > 1)} {where}"
        yield "for words further on, left out after training"


SHARED = {
    "none": [], "all": ["one layer, used each time"], "mlp": ["one MLP for all layers"],
    "attention": ["one attention for all layers"],
}  # fmt: skip


def _height(box: Box) -> int:
    mask = LINE + CELL * CELLS * (2 if box[3] == "both apart" else 1) if box[3] else 0
    return 12 + LINE * (1 + len(box[1])) + mask


def _box(box: Box, x: float, y: float, width: float, height: float) -> str:
    title, lines, colour, way = box
    frame = rect(x, y, width, height, colour, 0.14, f' rx="6" stroke="{colour}" stroke-opacity=".7"')
    written = [words(x + 10, y + 18, title, size=12, more=BOLD)]
    written += [words(x + 10, y + 18 + LINE * (k + 1), line, more=FAINT) for k, line in enumerate(lines)]
    return frame + "".join(written) + (_mask(way, x + 10, y + 24 + LINE * (len(lines) + 1)) if way else "")


ALLOWED = {
    "bidirectional": lambda query, key: True,
    "left to right": lambda query, key: key <= query,
    "right to left": lambda query, key: key >= query,
}
"""Whether a query position (down) has a part of a key position (across), when a plain text is read."""

SAID = {
    "bidirectional": "sees both sides", "left to right": "sees the left side", "right to left": "sees the right side",
}  # fmt: skip


def _mask(way: str, x: float, y: float) -> str:
    """What each of five words sees of a plain text, words down and what they see across."""
    ways = ("left to right", "right to left") if way == "both apart" else (way,)
    parts = []
    for number, each in enumerate(ways):
        top = y - 10 + number * (CELL * CELLS + 4)
        for query in range(CELLS):
            for key in range(CELLS):
                alpha = 0.85 if ALLOWED[each](query, key) else 0.12
                parts.append(rect(x + key * CELL, top + query * CELL, CELL - 1, CELL - 1, BLUE, alpha))
        parts.append(words(x + CELL * CELLS + 8, top + CELL * CELLS / 2 + 4, SAID[each], more=FAINT))
    return "".join(parts)


def _arrow(x: float, y: float) -> str:
    """An arrow up from the top of a box to the one above it."""
    return (
        f'<path d="M{x:.1f} {y - 1:.1f}v{-GAP + 4}m-3.5 4l3.5 -4l3.5 4" fill="none" stroke="currentColor" '
        'stroke-opacity=".6"/>'
    )


def _across(x: float, y: float) -> str:
    """An arrow from the encoder to the decoder, which attends to it."""
    return (
        f'<path d="M{x + 1:.1f} {y:.1f}h{GAP - 4}m-4 -3.5l4 3.5l-4 3.5" fill="none" stroke="currentColor" '
        'stroke-opacity=".6"/>'
    )
