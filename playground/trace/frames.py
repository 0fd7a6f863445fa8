"""An example as drawing data: the steps of an objective become frames of lanes and matrices, ready for JSON.

Nothing is computed here that training does not use: every cell is read off the `Batch` after a stage.
"""

import base64
from collections.abc import Container, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from playground.batch import (
    MASK_TITLES,
    Action,
    AttentionMask,
    Batch,
    CooccurrenceTarget,
    NegativeSampling,
    SoftTargets,
    Specials,
    Stream,
    Target,
    begin,
    gather_origin,
    token_strings,
)
from playground.leaks import Place, Verdict

FRAMES = {
    "text": "Text",
    "arrange": "Arrange",
    "choose": "Choose",
    "change": "Change",
    "propose": "Propose",
    "see": "Attention mask",
    "ask": "Predict",
}
NAMES = {"change": "corrupt", "see": "visibility"}
STATES = {
    Action.KEPT: "kept",
    Action.MASKED: "masked",
    Action.RANDOMISED: "randomised",
    Action.GRADED_AS_IS: "graded_as_is",
    Action.DELETED: "deleted",
    Action.MOVED: "moved",
    Action.REPLACED: "replaced",
    Action.SAME_BY_LUCK: "same_by_luck",
}
BETWEEN = " · "
"""Stands between the answers of several questions at one position."""

BLOCKED, VISIBLE, SELF_HIDDEN, PADDING, LEAKED = range(5)

Cell = dict[str, Any]
Frame = dict[str, Any]
Steps = Sequence[tuple[str, Batch]]
"""The verb of every stage and the example after it."""


def record(
    steps: Steps,
    verdict: Verdict,
    about: Mapping[str, Any],
    row: int = 0,
) -> dict[str, Any]:
    """The whole story of one row as JSON-able data; `about` gives the title and what else a view tells."""
    text = begin(steps[0][1].tokens)
    story = [("text", text), *that_change(text, steps)]
    seen, frames, used = False, [], set()
    for verb, example in story:
        seen = seen or verb == "see"
        name = _unique(NAMES.get(verb, verb), used)
        frames.append(
            {
                "name": name,
                "title": FRAMES[verb],
                "caption": caption(verb, example, row),
                "lanes": lanes(example, row),
                "matrices": matrices(example, verdict, row) if seen else [],
            }
        )
    return {
        "version": 1,
        **about,
        "text": token_strings(text.tokens.ids[row], text.tokens.valid[row], text.tokens.vocabulary),
        "leak": leak(verdict),
        "frames": frames,
    }


def that_change(text: Batch, steps: Steps) -> list[tuple[str, Batch]]:
    """The steps without an arrangement that leaves the text as it stands."""
    return [(verb, e) for verb, e in steps if verb != "arrange" or not _same(e.inputs.ids, text.inputs.ids)]


def _same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool((a == b).all())


def _unique(name: str, used: set[str]) -> str:
    number = 2
    found = name
    while found in used:
        found, number = f"{name} {number}", number + 1
    used.add(found)
    return found


def leak(verdict: Verdict) -> dict[str, Any]:
    """The verdict as data: by design is neither a leak nor clean, so it has its own flag."""
    return {
        "leak": verdict.leak,
        "level": "red" if verdict.leak else "amber" if verdict.by_design else "green",
        "by_design": [p + 1 for p in verdict.by_design],
        "sentence": verdict.sentence,
        "path": [{"stream": p.stream, "position": p.position, "layer": p.layer} for p in verdict.path],
    }


def lanes(example: Batch, row: int) -> list[dict[str, Any]]:
    """Lane A the original, lane B what the model sees (encoder and decoder), lane C what it must predict."""
    found = [
        {"name": "original", "title": "Original", "cells": _original(example, row)},
        {"name": "inputs", "title": "The model sees", "cells": _stream(example, example.inputs, row)},
    ]
    if example.decoder is not None:
        cells = _stream(example, example.decoder, row, plain=True)
        found.append({"name": "decoder", "title": "The decoder has", "cells": cells})
    if example.questions:
        found.append({"name": "targets", "title": "It must predict", "cells": _targets(example, row)})
    return found


def _original(example: Batch, row: int) -> list[Cell]:
    tokens, spoken = example.tokens, _spoken(example, row)
    ordered = not _same(
        example.prediction_order[row],
        torch.arange(example.prediction_order.shape[1], device=example.prediction_order.device),
    )
    return [
        _cell(
            tokens.vocabulary[token],
            f"t{place}",
            "special" if _special(token, tokens.specials) else "kept",
            chosen=bool(example.selected[row, place]),
            badge=str(int(example.prediction_order[row, place]) + 1) if ordered else "",
            language=1 + int(tokens.labels["language"][row, place]) if spoken else 0,
        )
        for place, token in enumerate(tokens.ids[row][tokens.valid[row]].tolist())
    ]


def _spoken(example: Batch, row: int) -> bool:
    """Whether a row holds two languages, so that every token shows which one it speaks."""
    streams = (example.inputs, *([example.decoder] if example.decoder is not None else []))
    known = [stream.language_ids[row][stream.valid[row]] for stream in streams]
    return "language" in example.tokens.labels and len(torch.cat(known).unique()) > 1


def _stream(example: Batch, stream: Stream, row: int, plain: bool = False) -> list[Cell]:
    tokens, spoken = example.tokens, _spoken(example, row)
    actions = gather_origin(example.actions, stream.origin)[row].tolist()
    chosen = gather_origin(example.selected, stream.origin, False)[row].tolist()
    graded = _graded_places(example, "decoder" if plain else "inputs", row, stream.ids.shape[1])
    cells, used = [], set()
    for place, token in enumerate(stream.ids[row].tolist()):
        if not bool(stream.valid[row, place]):
            continue
        origin = int(stream.origin[row, place])
        text, was = tokens.vocabulary[token], tokens.vocabulary[int(tokens.ids[row, origin])] if origin >= 0 else ""
        state = _state(origin, token, actions[place], tokens.specials, plain)
        key = f"t{origin}" if origin >= 0 and origin not in used else f"+{place}"
        used.add(origin)
        cells.append(
            _cell(
                text,
                key,
                state,
                chosen=chosen[place] and not plain,
                graded=graded[place],
                was=was if was != text else "",
                language=1 + int(stream.language_ids[row, place]) if spoken else 0,
            )
        )
    return cells


def _state(origin: int, token: int, action: int, specials: Specials, plain: bool) -> str:
    if origin < 0:
        sign = _special(token, specials) and token != specials.mask and token not in specials.sentinels
        return "special" if sign else "inserted"
    if plain:
        return "kept"
    if action == Action.KEPT and _special(token, specials):
        return "special"
    return STATES[Action(action)]


def _targets(example: Batch, row: int) -> list[Cell]:
    asked = example.answering
    said, graded, origin = answers(example, row)
    cells, used = [], set()
    for place in asked.valid[row].nonzero().flatten().tolist():
        key = f"t{origin[place]}" if origin[place] >= 0 and f"t{origin[place]}" not in used else f"?{place}"
        used.add(key)
        cells.append(_cell(said[place] if graded[place] else "", key, "kept", graded=bool(graded[place])))
    return cells


def answers(example: Batch, row: int) -> tuple[list[str], list[int], list[int]]:
    """For every position of the answering stream what is right there, whether it is graded, and its place in the text.

    Several questions of one stream share the lane: two answers at one position stand side by side.
    """
    question, *others = (
        q for q in example.questions if (q.stream == "decoder") == (example.questions[0].stream == "decoder")
    )
    said, graded = spoken(example, question, row)
    origin = question.origin[row].tolist()
    for other in others:
        also, counts = spoken(example, other, row)
        new = [int(b > a) for a, b in zip(graded, counts, strict=True)]
        both = [a and b for a, b in zip(graded, counts, strict=True)]
        said = [
            b if n else f"{a}{BETWEEN}{b}" if two and a != b else a
            for a, b, n, two in zip(said, also, new, both, strict=True)
        ]
        origin = [b if n else a for a, b, n in zip(origin, other.origin[row].tolist(), new, strict=True)]
        graded = [a or n for a, n in zip(graded, new, strict=True)]
    return said, graded, origin


def spoken(example: Batch, question: Target, row: int) -> tuple[list[str], list[int]]:
    """The answers of a row as a person would say them, and which of them are graded.

    A word that is not graded is said all the same, for it stands there; a label, a partner or padding is not.
    """
    graded, targets = question.loss_mask[row].long().tolist(), question.targets[row].tolist()
    silent = bool(question.classes) or question.head == "match"
    pad = example.tokens.specials.pad if question.head == "vocabulary" else -1
    said = (
        _say(example, question, target, row) if counts or not (silent or target == pad) else ""
        for target, counts in zip(targets, graded, strict=True)
    )
    return list(said), graded


def _say(example: Batch, question: Target, target: int, row: int) -> str:
    if question.head == "replaced":
        return "or"[target]
    if isinstance(question.loss, SoftTargets):
        return "taught"
    if question.head == "match":
        chosen = example.tokens.ids[row][example.selected[row]].tolist()
        return " ".join(example.tokens.vocabulary[i] for i in chosen)
    return question.classes[target] if question.classes else example.tokens.vocabulary[target]


def _graded_places(example: Batch, reader: str, row: int, width: int) -> list[bool]:
    graded = torch.zeros(width, dtype=torch.bool)
    for question in example.questions:
        if question.stream == reader or (question.stream == "query" and reader == "inputs"):
            graded |= question.loss_mask[row].cpu()
    return graded.tolist()


def _special(token: int, specials: Specials) -> bool:
    return token < specials.unknown


def _cell(
    text: str,
    key: str,
    state: str,
    *,
    chosen: bool = False,
    graded: bool = False,
    badge: str = "",
    was: str = "",
    language: int = 0,
) -> Cell:
    """A token of a lane; `language` counts from 1 where a row holds two, else it is 0."""
    cell = {"text": text, "key": key, "state": state, "chosen": chosen, "graded": graded, "badge": badge, "was": was}
    return cell | ({"language": language} if language else {})


def visible(example: Batch, row: int = 0) -> dict[str, list[list[int]]]:
    """The visibility matrices of a row by stack, as rows of 0 and 1, reader x read, padding left out."""
    inputs, decoder = example.inputs, example.decoder
    real = inputs.valid[row]
    if inputs.query_attn_mask is not None:
        both = {"content": inputs.attn_mask, "query": inputs.query_attn_mask}
        both |= {name + ABOVE: seen.odd_layers for name, seen in both.items() if seen.odd_layers is not None}
        return {name: _cells(seen, row, real, real) for name, seen in both.items()}
    found = {"encoder": _cells(inputs.attn_mask, row, real, real)}
    if decoder is not None and decoder.cross_attn_mask is not None:
        own = decoder.valid[row]
        found |= {
            "decoder": _cells(decoder.attn_mask, row, own, own),
            "cross": _cells(decoder.cross_attn_mask, row, own, real),
        }
    return found


def _cells(seen: AttentionMask, row: int, readers: Tensor, read: Tensor) -> list[list[int]]:
    dense = seen.dense()
    return dense[min(row, len(dense) - 1)][readers][:, read].long().tolist()


ABOVE = " above"
"""Ends the name of a matrix that holds in every second layer only, where not all layers see alike."""


def matrices(example: Batch, verdict: Verdict, row: int) -> list[dict[str, Any]]:
    """Every visibility matrix of the example with its labels and states."""
    query = example.inputs.query_attn_mask
    order = None if query is None or query.window is not None else _order(example, row)
    shown = visible(example, row)
    return [
        {
            "name": name,
            "title": _title(example, name),
            "rows": _side(example, name in ("decoder", "cross"), row),
            "columns": _side(example, name == "decoder", row),
            "shape": [len(cells), len(cells[0]) if cells else 0],
            "states": encode(_marks(name, cells, verdict, shown)),
            "graded_rows": _graded_rows(example, name, row, len(cells)),
            "order": order,
            **({"every": int(name.endswith(ABOVE))} if name.removesuffix(ABOVE) + ABOVE in shown else {}),
        }
        for name, cells in shown.items()
    ]


def _title(example: Batch, name: str) -> str:
    """A query stream with a window sees the words around its place, in no order."""
    query = example.inputs.query_attn_mask
    if query is not None and query.odd_layers is not None:
        stream = name.removesuffix(ABOVE).capitalize()
        return f"{stream} stream, layers 2, 4 …" if name.endswith(ABOVE) else f"{stream} stream, layers 1, 3 …"
    if query is None or query.window is None:
        return MASK_TITLES[name]
    return "Words by themselves" if name == "content" else "Query stream: sees the words around, not its own"


def _side(example: Batch, decoder: bool, row: int) -> list[str]:
    stream = example.decoder if decoder and example.decoder is not None else example.inputs
    return token_strings(stream.ids[row], stream.valid[row], example.tokens.vocabulary)


def _order(example: Batch, row: int) -> list[int]:
    rank = gather_origin(example.prediction_order, example.inputs.origin, -1)[row]
    return rank[example.inputs.valid[row]].argsort(stable=True).tolist()


def _graded_rows(example: Batch, name: str, row: int, width: int) -> list[int]:
    reader = {"query": "query", "decoder": "decoder", "cross": "decoder"}.get(name.removesuffix(ABOVE), "inputs")
    graded = torch.zeros(width, dtype=torch.bool)
    for question in example.questions:
        if question.stream == reader:
            graded |= question.loss_mask[row][:width].cpu()
    return graded.long().tolist()


def _marks(name: str, cells: list[list[int]], verdict: Verdict, names: Container[str]) -> Tensor:
    marks = torch.tensor(cells, dtype=torch.uint8).reshape(len(cells), len(cells[0]) if cells else 0)
    if name.removesuffix(ABOVE) == "query":
        marks[torch.eye(len(cells), dtype=torch.bool) & (marks == BLOCKED)] = SELF_HIDDEN
    for source, reader in zip(verdict.path, verdict.path[1:], strict=False):
        waits = (source.stream, source.position) == (reader.stream, reader.position)
        if not waits and _matrix_of(source, reader, names) == name:
            marks[reader.position, source.position] = LEAKED
    return marks


def _matrix_of(source: Place, reader: Place, names: Container[str]) -> str:
    """The matrix that lets a reader take what stands at a source one layer below."""
    name = reader.stream if reader.stream in (source.stream, "query") else "cross"
    name = "content" if name == "encoder" and "content" in names else name
    return name + ABOVE if reader.layer % 2 == 0 and name + ABOVE in names else name


def attention(weights: Tensor, shape: Sequence[int], layers: Sequence[int] | None = None) -> dict[str, Any]:
    """Attention weights `[layers, h, n, m]` (bytes, 255 for all of it) for a matrix of some shape, by layer.

    Padding stands at the end and is left out, as in the states; only the `layers` that are asked for are told.
    """
    number, heads = weights.shape[:2]
    wanted = range(number) if layers is None else sorted({min(max(0, k), number - 1) for k in layers})
    data = {str(k): encode(weights[k, :, : shape[0], : shape[1]]) for k in wanted}
    return {"layers": number, "heads": heads, "data": data}


def encode(values: Tensor) -> str:
    """Bytes of a tensor as text."""
    return base64.b64encode(values.to(torch.uint8).contiguous().cpu().numpy().tobytes()).decode("ascii")


def caption(verb: str, example: Batch, row: int) -> str:
    """What this frame shows, in one or two sentences made of the example's own numbers."""
    number = int(example.tokens.lengths[row])
    match verb:
        case "text":
            return f"The text has {_count(number, 'token')}."
        case "arrange":
            return "The text is laid out for the model; special tokens have no source position."
        case "choose":
            return _choice(example, row, number)
        case "change":
            return _changes(example, row)
        case "propose":
            return _proposed(example, row)
        case "see":
            return _views(example, row)
        case _:
            return _asked(example, row)


def _choice(example: Batch, row: int, number: int) -> str:
    chosen = int(example.selected[row].sum())
    spans = int((example.spans.length[row] >= 0).sum())
    empty = int((example.spans.length[row] == 0).sum())
    said = f"{_count(chosen, 'token')} of {number} {'is' if chosen == 1 else 'are'} chosen"
    if spans:
        said += f", in {_count(spans - empty, 'run')}" + (f" and {_count(empty, 'empty gap')}" if empty else "")
    if not _same(
        example.prediction_order[row],
        torch.arange(example.prediction_order.shape[1], device=example.prediction_order.device),
    ):
        said += ": the last of the order. The tokens do not move; the numbers say when each one comes"
    return said + "."


def _changes(example: Batch, row: int) -> str:
    actions = example.actions[row][example.tokens.valid[row]]
    said = {
        Action.MASKED: "replaced by [MASK]",
        Action.RANDOMISED: "replaced by a random word",
        Action.GRADED_AS_IS: "left as it is but still scored",
        Action.DELETED: "removed (span folded)",
        Action.MOVED: "moved",
        Action.REPLACED: "replaced by a plausible word",
        Action.SAME_BY_LUCK: "sampled but the same by luck",
    }
    counts = [(int((actions == a).sum()), words) for a, words in said.items()]
    parts = [f"{n} {words}" for n, words in counts if n]
    inserted = int(((example.inputs.origin[row] < 0) & example.inputs.valid[row]).sum())
    parts += [f"{inserted} inserted"] if inserted else []
    return ("Tokens: " + ", ".join(parts) + ".") if parts else "Nothing is changed."


def _proposed(example: Batch, row: int) -> str:
    contrast = example.questions[-1].loss if example.questions else None
    if not isinstance(contrast, NegativeSampling):
        return _changes(example, row) + " No gradient comes back through the sample."
    number = int((contrast.negatives[row] >= 0).sum())
    return f"{_count(number, 'wrong word')} drawn by chance; each right word must be told from its own wrong ones."


def _views(example: Batch, row: int) -> str:
    parts = []
    for name, cells in visible(example, row).items():
        total, allowed = sum(map(len, cells)), sum(map(sum, cells))
        parts.append(f"{name} {allowed} of {total} entries allowed")
    return "Rows are query positions, columns are key positions: " + "; ".join(parts) + "."


def _asked(example: Batch, row: int) -> str:
    if not example.questions:
        return "Nothing is asked yet."
    positions = int(example.answering.valid[row].sum())
    parts = [f"{_what(q)} at {int(q.loss_mask[row].sum())}" for q in example.questions]
    return f"The model {' and '.join(parts)} of {_count(positions, 'position')}; only these are scored."


def _what(question: Target) -> str:
    if question.head == "replaced":
        return "says original (o) or replaced (r)"
    if question.head == "match":
        return "finds the missing run of words among those of the whole batch"
    if isinstance(question.loss, CooccurrenceTarget):
        return "says how often two words meet"
    if question.classes:
        return f"chooses one of {', '.join(question.classes[:4])}{' ...' if len(question.classes) > 4 else ''}"
    return "guesses the word from the ends of its run" if question.reads is not None else "names the word"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
