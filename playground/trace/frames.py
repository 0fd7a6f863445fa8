"""A batch as drawing data: frames of lanes and matrices, ready for JSON, read off the `Batch` after each stage."""

import base64
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from playground.answers import Target
from playground.batch import (
    MASK_TITLES,
    Action,
    AttentionMask,
    Batch,
    Specials,
    Stream,
    arange,
    begin,
    gather_origin,
    token_strings,
)
from playground.leaks import Node, Verdict
from playground.trace.json_schema import Cell, Frame, IdLists, Ids, Lane, Leak, Masks, Matrix, Weights
from playground.trace.mask_words import masks_in_words

TITLES = {"see": "Attention mask", "ask": "Predict"}
NAMES = {"change": "corrupt", "see": "visibility"}
STATES = {action: action.name.lower() for action in Action}
ANSWERS = "targets"
"""Names the lane of the targets, and begins the names of the lanes of further words."""

BETWEEN = " · "
"""Stands between the answers of several targets at one position."""

ABOVE = " above"
"""Ends the name of a matrix that holds in every second layer only, where layers differ."""

BLOCKED, VISIBLE, SELF_HIDDEN, PADDING, LEAKED = range(5)

Steps = Sequence[tuple[str, Batch]]
"""The verb of every stage and the batch after it."""


def record(steps: Steps, verdict: Verdict, about: Mapping[str, Any], row: int = 0) -> dict[str, Any]:
    """All frames of one row as JSON-able data; `about` gives the title and what else a view shows."""
    text = begin(steps[0][1].tokens)
    frames: list[Frame] = []
    used = Counter[str]()
    for verb, batch in [("text", text), *that_change(text, steps)]:
        name = NAMES.get(verb, verb)
        used[name] += 1
        frames.append(
            {
                "name": name if used[name] == 1 else f"{name} {used[name]}",
                "title": TITLES.get(verb, verb.capitalize()),
                "caption": caption(verb, batch, row),
                "lanes": lanes(batch, row),
                "matrices": matrices(batch, verdict, row) if used[NAMES["see"]] else [],
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
    return [(verb, e) for verb, e in steps if verb != "arrange" or not torch.equal(e.inputs.ids, text.inputs.ids)]


def leak(verdict: Verdict) -> Leak:
    """The verdict as data: by design is neither a leak nor clean, so it has its own flag."""
    return {
        "leak": verdict.leak,
        "level": "red" if verdict.leak else "amber" if verdict.by_design else "green",
        "by_design": [p + 1 for p in verdict.by_design],
        "sentence": verdict.sentence,
        "path": [{"stream": node.stream, "position": node.position, "layer": node.layer} for node in verdict.path],
    }


def lanes(batch: Batch, row: int) -> list[Lane]:
    """Lane A the original, lane B the model's input (encoder and decoder), lane C the targets."""
    found: list[Lane] = [
        {"name": "original", "title": "Original", "cells": _original(batch, row)},
        _stream("inputs", "The model sees", batch, batch.inputs, row),
    ]
    if batch.teacher is not None:
        found.append(_stream("teacher", "The teacher sees", batch, batch.teacher.inputs, row))
    if batch.decoder is not None:
        found.append(_stream("decoder", "The decoder has", batch, batch.decoder, row))
    if batch.targets:
        found.extend(_answer_lanes(batch, row))
    return found


def _answer_lanes(batch: Batch, row: int) -> list[Lane]:
    """One lane for all targets, and where they are at several distances one for each distance."""
    shared = [target for target in batch.targets if not target.kind.ahead]
    further = [target for target in batch.targets if target.kind.ahead]
    first: Lane = {"name": ANSWERS, "title": "It must predict", "cells": _targets(batch, row, shared)}
    if further:
        first = {**first, "title": shared[0].name.capitalize(), "target": shared[0].name}
    return [first, *(_further_lane(batch, row, target, number) for number, target in enumerate(further, 2))]


def _further_lane(batch: Batch, row: int, target: Target, number: int) -> Lane:
    title = target.name.removesuffix(" word")  # short enough for one line in the margin
    cells = _targets(batch, row, [target])
    return {"name": f"{ANSWERS} {number}", "title": title, "cells": cells, "target": target.name}


def _original(batch: Batch, row: int) -> list[Cell]:
    tokens, ordered = batch.tokens, _reordered(batch, row)
    special = {*tokens.specials.ids}
    return [
        _cell(
            tokens.vocabulary[token],
            f"t{position}",
            "special" if token in special else "kept",
            chosen=bool(batch.selected[row, position]),
            badge=str(int(batch.prediction_order[row, position]) + 1) if ordered else "",
        )
        for position, token in enumerate(tokens.ids[row][tokens.valid[row]].tolist())
    ]


def _reordered(batch: Batch, row: int) -> bool:
    """Whether the text is predicted in another order than it stands in."""
    order = batch.prediction_order[row]
    return not torch.equal(order, arange(len(order), order.device))


def id_lists(stream: Stream, row: int = 0) -> IdLists:
    """What a model can read of each position beside its token, without padding, by its names in transformers."""
    known = {"token_type_ids": stream.segment_ids, "position_ids": stream.position_ids, "langs": stream.language_ids}
    if stream.second_position_ids is not None:
        known["second_position_ids"] = stream.second_position_ids
    known |= {f"{name}_type_ids": label.ids for name, label in stream.label_ids.items()}
    return cast(IdLists, {name: ids[row][stream.valid[row]].tolist() for name, ids in known.items()})


def _ids(batch: Batch, stream: Stream, row: int) -> list[Ids]:
    """The ids that tell a model something: those that are not 0 everywhere, and positions that do not just count on.

    Languages tell two texts apart without segments (XLM, arXiv:1901.07291, sec. 3.4); a word vector has no position.
    """
    lists, decoder = id_lists(stream, row), batch.decoder or batch.inputs
    spoken = any(any(id_lists(each, row)["langs"]) for each in (batch.inputs, decoder))
    segments, positions = lists["token_type_ids"], lists["position_ids"]
    shown: dict[str, tuple[str, list[str]]] = {}
    values = cast(dict[str, list[int]], lists)
    if any(segments) and not spoken:
        shown["token_type_ids"] = "segment", [chr(ord("A") + k) for k in range(max(segments) + 1)]
    if positions != list(range(len(positions))) and stream.attn_mask.form != "alone":
        shown["position_ids"] = "position", []
    if "second_position_ids" in values:
        shown["second_position_ids"] = "second position", []
    if spoken:
        shown["langs"] = "language", [str(k + 1) for k in range(max(lists["langs"], default=0) + 1)]
    for name, label in stream.label_ids.items():
        classes = [each.replace("_", " ") for each in label.classes]
        shown[f"{name}_type_ids"] = f"{name.replace('_', ' ')}:", ["", *classes]
    return [{"name": n, "title": title, "values": values[n], "words": words} for n, (title, words) in shown.items()]


def _stream(name: str, title: str, batch: Batch, stream: Stream, row: int) -> Lane:
    """The tokens of a stream, and the ids that are read with them."""
    tokens, plain = batch.tokens, name == "decoder"
    action = batch.actions_at(stream)[row]
    changed = action == gather_origin(batch.actions, stream.origin, int(Action.KEPT))[row]
    selected = gather_origin(batch.selected, stream.origin, False)[row] & changed
    actions, chosen = action.tolist(), selected.tolist()
    scored = _scored(batch, ("decoder",) if plain else ("inputs", "query"), row, stream.ids.shape[1])
    cells, used = [], set()
    for position in stream.valid[row].nonzero().flatten().tolist():
        token, origin = int(stream.ids[row, position]), int(stream.origin[row, position])
        text, was = tokens.vocabulary[token], tokens.vocabulary[int(tokens.ids[row, origin])] if origin >= 0 else ""
        cells.append(
            _cell(
                text,
                f"t{origin}" if origin >= 0 and origin not in used else f"+{position}",
                _state(origin, token, actions[position], tokens.specials, plain),
                chosen=chosen[position] and not plain,
                scored=bool(scored[position]),
                was=was if was != text else "",
            )
        )
        used.add(origin)
    lane: Lane = {"name": name, "title": title, "cells": cells}
    if ids := _ids(batch, stream, row):
        lane["ids"] = ids
    return lane


def _state(origin: int, token: int, action: int, specials: Specials, plain: bool) -> str:
    special = token in specials.ids
    if origin < 0:
        return "special" if special and token not in specials.signs else "inserted"
    if plain:
        return "kept"
    return "special" if action == Action.KEPT and special else STATES[Action(action)]


def _targets(batch: Batch, row: int, targets: Sequence[Target]) -> list[Cell]:
    texts, scored, origin = answers(batch, row, targets)
    cells, used = [], set()
    for position in batch.answering.valid[row].nonzero().flatten().tolist():
        key = f"t{origin[position]}" if origin[position] >= 0 and f"t{origin[position]}" not in used else f"?{position}"
        used.add(key)
        cells.append(_cell(texts[position] if scored[position] else "", key, "kept", scored=bool(scored[position])))
    return cells


def answers(batch: Batch, row: int, targets: Sequence[Target] = ()) -> tuple[list[str], list[int], list[int]]:
    """For each position of the answering stream its target in words, whether it is scored, and where in the text it is.

    Several targets of one stream share the lane: two answers at one position stand side by side. Without `targets` it
    is about all of the batch.
    """
    targets = targets or batch.targets
    target, *others = (target for target in targets if target.at_decoder == targets[0].at_decoder)
    texts, scored = _texts(batch, target, row)
    origin = target.origin[row].tolist()
    for other in others:
        also, counts = _texts(batch, other, row)
        for position, (text, place_in_text) in enumerate(zip(also, other.origin[row].tolist(), strict=True)):
            if counts[position] and not scored[position]:
                texts[position], origin[position], scored[position] = text, place_in_text, 1
            elif counts[position] and (texts[position], origin[position]) != (text, place_in_text):
                texts[position] += f"{BETWEEN}{text}"
    return texts, scored, origin


def _texts(batch: Batch, target: Target, row: int) -> tuple[list[str], list[int]]:
    """The targets of a row in words, empty where they are not known, and which of them are scored."""
    kind, scored = target.kind, target.loss_mask[row].long().tolist()
    pad = batch.tokens.specials.pad if kind.names_words else -1
    return [
        kind.text(batch, label, row) if counts or (kind.always_known and label != pad) else ""
        for label, counts in zip(target.labels[row].tolist(), scored, strict=True)
    ], scored


def _scored(batch: Batch, streams: Container[str], row: int, width: int) -> list[int]:
    """Which of the first positions are scored by a target to one of the streams."""
    scored = torch.zeros(width, dtype=torch.bool)
    for target in batch.targets:
        if target.stream in streams:
            scored |= target.loss_mask[row][:width].cpu()
    return scored.long().tolist()


def _cell(
    text: str, key: str, state: str, chosen: bool = False, scored: bool = False, badge: str = "", was: str = ""
) -> Cell:
    return {"text": text, "key": key, "state": state, "chosen": chosen, "scored": scored, "badge": badge, "was": was}


def attention_mask(batch: Batch, row: int = 0) -> Masks:
    """The attention masks of a row by name, as rows of 0 and 1, query x key, without padding."""
    inputs, decoder = batch.inputs, batch.decoder
    real = inputs.valid[row]
    masks = {"encoder" if inputs.query_attn_mask is None else "content": (inputs.attn_mask, real, real)}
    if inputs.query_attn_mask is not None:
        masks["query"] = inputs.query_attn_mask, real, real
    elif decoder is not None and decoder.cross_attn_mask is not None:
        own = decoder.valid[row]
        masks |= {"decoder": (decoder.attn_mask, own, own), "cross": (decoder.cross_attn_mask, own, real)}
    masks |= {name + ABOVE: (m.odd_layers, *real) for name, (m, *real) in masks.items() if m.odd_layers is not None}
    return {name: _cells(mask, row, *real) for name, (mask, *real) in masks.items()}


def _cells(mask: AttentionMask, row: int, queries: Tensor, keys: Tensor) -> list[list[int]]:
    dense = mask.dense()
    return dense[min(row, len(dense) - 1)][queries][:, keys].long().tolist()


def matrices(batch: Batch, verdict: Verdict, row: int) -> list[Matrix]:
    """Every attention mask of the batch with its labels and states."""
    inputs, query, shown = batch.inputs, batch.inputs.query_attn_mask, attention_mask(batch, row)
    order = None
    if query is not None and query.window is None:
        rank = gather_origin(batch.prediction_order, inputs.origin, -1)[row]
        order = rank[inputs.valid[row]].argsort(stable=True).tolist()
    readers = {"query": "query", "decoder": "decoder", "cross": "decoder"}
    words, decoder = batch.tokens.vocabulary, batch.decoder or inputs
    own, written = (token_strings(s.ids[row], s.valid[row], words) for s in (inputs, decoder))
    found: list[Matrix] = []
    for name, cells in shown.items():
        found.append(
            {
                "name": name,
                "title": _title(query, name, name.removesuffix(ABOVE) + ABOVE in shown),
                "rows": written if name.startswith(("decoder", "cross")) else own,
                "columns": written if name.startswith("decoder") else own,
                "shape": [len(cells), len(cells[0]) if cells else 0],
                "states": encode(_states(name, cells, verdict, shown)),
                "scored_rows": _scored(batch, (readers.get(name.removesuffix(ABOVE), "inputs"),), row, len(cells)),
                "order": order,
            }
        )
        if name.removesuffix(ABOVE) + ABOVE in shown:
            found[-1]["every"] = int(name.endswith(ABOVE))
    return found


def _title(query: AttentionMask | None, name: str, alternates: bool) -> str:
    """The title of a matrix; a query stream with a window attends to the words around its position, in no order."""
    if alternates:
        stream = f"{name.removesuffix(ABOVE).capitalize()}{'' if query is None else ' stream'}"
        return f"{stream}, layers 2, 4 …" if name.endswith(ABOVE) else f"{stream}, layers 1, 3 …"
    if query is None or query.window is None:
        return MASK_TITLES[name]
    return "Words by themselves" if name == "content" else "Query stream: attends to the words around, not its own"


def _states(name: str, cells: list[list[int]], verdict: Verdict, names: Container[str]) -> Tensor:
    states = torch.tensor(cells, dtype=torch.uint8).reshape(len(cells), len(cells[0]) if cells else 0)
    if name.removesuffix(ABOVE) == "query":
        states[torch.eye(len(cells), dtype=torch.bool) & (states == BLOCKED)] = SELF_HIDDEN
    for source, reader in zip(verdict.path, verdict.path[1:], strict=False):
        stays = (source.stream, source.position) == (reader.stream, reader.position)
        if not stays and _matrix_of(source, reader, names) == name:
            states[reader.position, source.position] = LEAKED
    return states


def _matrix_of(source: Node, reader: Node, names: Container[str]) -> str:
    """The matrix through which a node reads another one layer below."""
    name = reader.stream if reader.stream in (source.stream, "query") else "cross"
    name = "content" if name == "encoder" and "content" in names else name
    return name + ABOVE if reader.layer % 2 == 0 and name + ABOVE in names else name


def attention(weights: Tensor, shape: Sequence[int], layers: Sequence[int] | None = None) -> Weights:
    """Attention weights `[layers, h, n, m]` in bytes by layer, cut to a `shape` without padding, of some `layers`."""
    number, heads = weights.shape[:2]
    shown = range(number) if layers is None else sorted({min(max(0, k), number - 1) for k in layers})
    data = {str(k): encode(weights[k, :, : shape[0], : shape[1]]) for k in shown}
    return {"layers": number, "heads": heads, "data": data}


def encode(values: Tensor) -> str:
    """Bytes of a tensor as text."""
    return base64.b64encode(values.to(torch.uint8).contiguous().cpu().numpy().tobytes()).decode("ascii")


def caption(verb: str, batch: Batch, row: int) -> str:
    """What this frame shows, in one or two sentences made of the batch's own numbers."""
    match verb:
        case "text":
            return f"The text has {_count(int(batch.tokens.lengths[row]), 'token')}."
        case "arrange":
            read = " and ".join(each["title"] for each in _ids(batch, batch.inputs, row))
            also = f" The model also reads the {read} of each." if read else ""
            return f"Each token goes to its position in the model's input; special tokens are added.{also}"
        case "choose":
            return _selection(batch, row)
        case "change":
            return _changes(batch, row)
        case "propose" if batch.teacher is not None:
            return (
                "The teacher, an exponential moving average of the model's weights, reads the text as it was. "
                "It gets no gradient."
            )
        case "propose":
            samples = batch.targets[-1].kind.describe_samples(row) if batch.targets else ""
            return samples or f"{_changes(batch, row)} No gradient flows back through the samples."
        case "see":
            return f"{masks_in_words(attention_mask(batch, row))}{_labels_read(batch, row)}"
        case _:
            return _questions(batch, row)


def _selection(batch: Batch, row: int) -> str:
    chosen, length = int(batch.selected[row].sum()), batch.spans.length[row]
    spans, empty = int((length > 0).sum()), int((length == 0).sum())
    text = f"{chosen} of {_count(int(batch.tokens.lengths[row]), 'token')} {'is' if chosen == 1 else 'are'} selected"
    if spans or empty:
        text += f", in {_count(spans, 'span')}" + (f" and {_count(empty, 'empty span')}" if empty else "")
    if _reordered(batch, row):
        text += (
            ": those that come last in the prediction order. Tokens keep their positions; the numbers give the order"
        )
    return text + "."


CHANGES = {
    Action.MASKED: "replaced by [MASK]",
    Action.RANDOMISED: "replaced by a random word",
    Action.SCORED_AS_IS: "left unchanged but scored",
    Action.DELETED: "deleted",
    Action.MOVED: "moved",
    Action.REPLACED: "replaced by a sampled word",
    Action.SAME_BY_LUCK: "sampled and equal to the original",
}


def _changes(batch: Batch, row: int) -> str:
    actions = batch.actions[row][batch.tokens.valid[row]]
    counts = [(int((actions == action).sum()), words) for action, words in CHANGES.items()]
    counts.append((int(((batch.inputs.origin[row] < 0) & batch.inputs.valid[row]).sum()), "inserted"))
    parts = [f"{number} {words}" for number, words in counts if number]
    return f"Tokens: {', '.join(parts)}." if parts else "Nothing is changed."


def _labels_read(batch: Batch, row: int) -> str:
    """Which labels are read with the words: the class where all words have the same, else of how many it is known."""
    inputs, words, parts = batch.inputs, batch.inputs.valid[row] & (batch.inputs.origin[row] >= 0), []
    for name, label in inputs.label_ids.items():
        known = label.ids[row][words]
        one = known[0] if len(known) and bool((known == known[0]).all()) else 0
        what = f"({label.classes[int(one) - 1]})" if one else f"of {int((known > 0).sum())}"
        parts.append(f"{name.replace('_', ' ')} {what}")
    return f" Of {_count(len(known), 'word')} the model also reads the {', the '.join(parts)}." if parts else ""


def _questions(batch: Batch, row: int) -> str:
    if not batch.targets:
        return "Nothing is predicted yet."
    there, scored = (
        int(batch.answering.valid[row].sum()),
        [int(target.loss_mask[row].sum()) for target in batch.targets],
    )
    if scored == [there]:
        what, where = batch.targets[0].kind.describe(), _count(there, "position", "all ")
        return f"The model predicts {what} at {where}; all count in the loss."
    *parts, last = (f"{q.kind.describe()} at {number}" for q, number in zip(batch.targets, scored, strict=True))
    parts = [", ".join(parts), last] if parts else [last]
    only = "only this one counts" if sum(scored) == 1 else "only these count"
    return f"The model predicts {' and '.join(parts)} of {_count(there, 'position')}; {only} in the loss."


def _count(number: int, what: str, before: str = "") -> str:
    return f"{number} {what}" if number == 1 else f"{before}{number} {what}s"
