"""Leak check: can a scored answer reach the position that must predict it?

Information flows only where the attention masks allow it: in every layer a position keeps what it has (residual) and
takes what the positions have that it attends to. Nodes are (stream, position, layer); the check is exact for any number
of layers because it is a closure of booleans, not an experiment.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.answers import Target
from playground.batch import Action, AttentionMask, Batch, Stream, gather_origin

SPAN = 2**30
"""The node of an answer that is all selected words together."""

WRITTEN = 2**29
"""Plus its position: the position of an answer that a decoder writes and that is no word of the text."""

NAMES = {"inputs": "encoder", "query": "query", "decoder": "decoder"}


@dataclass(frozen=True)
class Node:
    """A node of a path: a position (0-based) of a stream before a layer."""

    stream: str
    position: int
    layer: int


@dataclass(frozen=True)
class Verdict:
    """Whether scored answers can be copied, where, and by which shortest path; `by_design` are shown on purpose."""

    leak: bool
    leaking: tuple[int, ...]
    scored: int  # the number of scored positions
    by_design: tuple[int, ...]
    path: tuple[Node, ...]
    sentence: str


def check(batch: Batch, layers: int = 4, row: int = 0) -> Verdict:
    """The verdict for one row of a batch, targets of the auxiliary batches included."""
    verdicts = [_question(e, target, layers, row) for e in batch.with_auxiliary for target in e.targets]
    worst = max(verdicts, key=lambda v: (v.leak, len(v.by_design), v.scored > 0), default=None)
    return worst or Verdict(False, (), 0, (), (), "Nothing is asked, so nothing can leak.")


def reaches(attn_mask: Tensor, layers: int) -> Tensor:
    """Whose content is at which position after so many layers with residuals, `[n, n]`."""
    own = torch.eye(len(attn_mask), dtype=torch.bool, device=attn_mask.device)
    step = attn_mask | own
    if layers < 1 or torch.equal(step, own):  # no product where each position attends to itself alone (word vectors)
        return own
    reach = step
    for _ in range(layers - 1):
        wider = _join(step, reach)
        if torch.equal(wider, reach):
            break
        reach = wider
    return reach


def answering(batch: Batch, target: Target, layers: int, row: int = 0) -> tuple[Tensor, Tensor | None]:
    """What reaches each predicting position: `[n, inputs]` and, for a decoder, `[n, decoder]` booleans."""
    inputs = batch.inputs
    reach = climb(inputs.attn_mask, row, layers)
    if target.at_query:
        return _query_reach(inputs, row, layers), None
    if target.kind.sequential:
        return _read_further(reach, inputs, target.kind.ahead, row), None
    if not target.at_decoder:
        return (reach if target.reads is None else reach[target.reads[row]].any(1)), None
    decoder = batch.decoder
    assert decoder is not None
    own = reaches(_dense(decoder.attn_mask, row), layers)
    before = reaches(_dense(decoder.attn_mask, row), layers - 1)
    return _join(before, _join(_dense(decoder.cross_attn_mask, row), reach)), own


def _read_further(reach: Tensor, inputs: Stream, ahead: int, row: int) -> Tensor:
    """What reaches each position after `ahead` modules, each of which reads one more token (DeepSeek-V3, sec. 2.2)."""
    mask = _dense(inputs.attn_mask, row)
    for number in range(1, ahead + 1):
        token = torch.ones_like(reach).triu(number) & torch.ones_like(reach).tril(number)
        reach = _join(mask | torch.eye(len(mask), dtype=torch.bool, device=mask.device), reach | token)
    return reach


def climb(attn_mask: AttentionMask, row: int, layers: int) -> Tensor:
    """Whose content is at which position after so many layers, `[n, n]`."""
    if attn_mask.odd_layers is None:
        return reaches(_dense(attn_mask, row), layers)
    own = torch.eye(attn_mask.query_level.shape[1], dtype=torch.bool, device=attn_mask.query_level.device)
    reach = own
    for number in range(layers):
        reach = _join(_dense(attn_mask.layer(number), row) | own, reach)
    return reach


def _query_reach(inputs: Stream, row: int, layers: int) -> Tensor:
    """What reaches every query, `[n, n]`; under one mask the last layer has all that earlier ones had."""
    content, query = inputs.attn_mask, inputs.query_attn_mask
    assert query is not None
    numbers = [layers - 1] if content.odd_layers is query.odd_layers is None else range(layers)
    return torch.stack([_join(_dense(query.layer(k), row), climb(content, row, k)) for k in numbers]).any(0)


def context_words(batch: Batch, layers: int = 4, row: int = 0) -> float:
    """The mean number of other words of the text that reach a scored position of the first target."""
    target = batch.targets[0]
    reach, _ = answering(batch, target, layers, row)
    shown, _ = shown_positions(batch.inputs, batch, row)
    words = reach & (shown >= 0) & (shown[None, :] != target.origin[row][:, None])
    return float(words[target.loss_mask[row]].sum(1).float().mean()) if bool(target.loss_mask[row].any()) else 0.0


def known_positions(batch: Batch, target: Target, layers: int, row: int = 0) -> Tensor:
    """Which words of the text reach each predicting position, `[n, t]`, those that are left on purpose included."""
    reach, own = answering(batch, target, layers, row)
    size = batch.tokens.ids.shape[1]
    known = [_words_at(reach, positions, size) for positions in shown_positions(batch.inputs, batch, row)]
    if own is not None and batch.decoder is not None:
        known.append(_words_at(own, _written(batch.decoder, target, row), size))
    return torch.stack(known).any(0)


def _words_at(reach: Tensor, positions: Tensor, size: int) -> Tensor:
    """Which positions of a text of `size` words the positions show that reach each position, `[n, size]`."""
    return _join(reach, positions[:, None] == torch.arange(size, device=positions.device))


def _question(batch: Batch, target: Target, layers: int, row: int) -> Verdict:
    scored = target.loss_mask[row]
    from_inputs, from_decoder = answering(batch, target, layers, row)
    open_ended = torch.zeros_like(from_inputs) if target.copying else from_inputs
    answer, shown, on_purpose = _answers_shown(batch, target, row)
    leak = _meets(open_ended, shown, answer)
    if from_decoder is not None and batch.decoder is not None:
        leak |= _meets(from_decoder, _written(batch.decoder, target, row), answer)
    leaking = tuple((leak & scored).nonzero().flatten().tolist())
    by_design = tuple((_meets(open_ended, on_purpose, answer) & scored).nonzero().flatten().tolist())
    number = int(scored.sum())
    path = _path(batch, target, leaking[0], layers, row) if leaking else ()
    return Verdict(bool(leaking), leaking, number, by_design, path, _sentence(target, leaking, by_design, number))


def shown_positions(stream: Stream, batch: Batch, row: int, whole_span: bool = False) -> tuple[Tensor, Tensor]:
    """The node of the word that each position shows (-1: none), and of those left on purpose; `SPAN` for a span."""
    origin = stream.origin[row]
    action = batch.actions_at(stream)[row]
    hidden = torch.isin(action, torch.tensor([Action.MASKED, Action.RANDOMISED, Action.REPLACED], device=action.device))
    left = action == Action.SCORED_AS_IS
    if whole_span:
        selected = gather_origin(batch.selected, stream.origin, False)[row]
        origin = torch.full_like(origin, -1).masked_fill(selected, SPAN)
    return origin.masked_fill(hidden | left, -1), origin.masked_fill(~left, -1)


def _answers_shown(batch: Batch, target: Target, row: int) -> tuple[Tensor, Tensor, Tensor]:
    """The node of each answer, of what each position of the input shows, and of what it shows on purpose, `[n]` each.

    The answer to a target for a label that is read stands at its own word; for that of the whole text, at any word.
    """
    inputs, label = batch.inputs, batch.inputs.label_ids.get(target.kind.label)
    if label is None:
        shown, on_purpose = shown_positions(inputs, batch, row, target.kind.whole_span)
        return _answers(target, row), shown, on_purpose
    origin = inputs.origin[row]
    whole = bool((target.loss_mask[row] & (origin < 0)).any())
    answer = torch.full_like(origin, SPAN) if whole else origin
    known = answer.masked_fill(label.ids[row] == 0, -1)
    left = gather_origin(batch.actions, inputs.origin)[row] == Action.SCORED_AS_IS
    return answer, known.masked_fill(left, -1), known.masked_fill(~left, -1)


def _answers(target: Target, row: int) -> Tensor:
    """The node of the text that holds each answer, `[n]`; what a decoder writes beside the text has its own node."""
    origin = target.origin[row]
    if target.kind.whole_span:
        return origin.masked_fill(target.loss_mask[row], SPAN)
    if not target.at_decoder or not target.kind.names_words:
        return origin
    return origin.where(origin >= 0, WRITTEN + torch.arange(len(origin), device=origin.device))


def _written(decoder: Stream, target: Target, row: int) -> Tensor:
    """The node of the answer that each position of a decoder shows, `[n]`: the target of the position before."""
    origin = decoder.origin[row]
    if not target.kind.names_words:
        return origin
    node = torch.arange(len(origin), device=origin.device)
    tells = (node > 0) & (decoder.ids[row] == target.labels[row].roll(1))
    return origin.where((origin >= 0) | ~tells, WRITTEN + node - 1)


def _meets(reach: Tensor, shows: Tensor, answer: Tensor) -> Tensor:
    """Which predicting positions are reached by a position that shows their answer, `[n]`."""
    same = (shows[None, :] == answer[:, None]) & (answer[:, None] >= 0)
    return (reach & same).any(dim=1)


def _join(left: Tensor, right: Tensor) -> Tensor:
    """Boolean matrix product."""
    return (left.float() @ right.float()) > 0


def _dense(attn_mask: AttentionMask | None, row: int) -> Tensor:
    assert attn_mask is not None
    cells = attn_mask.dense()
    return cells[min(row, len(cells) - 1)]


def _path(batch: Batch, target: Target, position: int, layers: int, row: int) -> tuple[Node, ...]:
    """The shortest path from a position that shows the answer to the one that must predict it, source first."""
    goals = _goals(batch, target, row, position)
    ends = [position] if target.reads is None else target.reads[row, position].tolist()
    wave = [Node(NAMES[target.stream], end, layers) for end in dict.fromkeys(ends)]
    came: dict[Node, Node | None] = dict.fromkeys(wave)
    edges = [_edges(batch, row, layers, number) for number in range(2)]
    while wave:
        for node in wave:
            if (node.stream, node.position) in goals:
                path: list[Node] = []
                step: Node | None = node
                while step is not None:
                    path.append(step)
                    step = came[step]
                return tuple(path)
        wave = _next_wave(wave, edges, came)
    return ()


Edges = dict[str, tuple[tuple[str, Tensor, int | None], ...]]
"""For each stream what it reads: a stream, the cells `[n, m]`, and the layer (None: the one below)."""


def _edges(batch: Batch, row: int, layers: int, number: int) -> Edges:
    """What each stream reads in layer `number`, one of two that alternate; cross-attention reads the last layer."""
    inputs, decoder = batch.inputs, batch.decoder
    own = torch.eye(inputs.ids.shape[1], dtype=torch.bool, device=inputs.ids.device)
    edges: Edges = {"encoder": (("encoder", _dense(inputs.attn_mask.layer(number), row) | own, None),)}
    if inputs.query_attn_mask is not None:
        edges["query"] = (("encoder", _dense(inputs.query_attn_mask.layer(number), row), None), ("query", own, None))
    if decoder is not None and decoder.cross_attn_mask is not None:
        itself = torch.eye(decoder.ids.shape[1], dtype=torch.bool, device=own.device)
        written = ("decoder", _dense(decoder.attn_mask, row) | itself, None)
        edges["decoder"] = (written, ("encoder", _dense(decoder.cross_attn_mask, row), layers))
    return edges


def _next_wave(wave: list[Node], edges: list[Edges], came: dict[Node, Node | None]) -> list[Node]:
    """The new nodes one step further from the end, with the reader of each in `came`; `edges` are of two layers."""
    found = []
    for stream, layer in dict.fromkeys((p.stream, p.layer) for p in wave if p.layer > 0):
        readers = [p.position for p in wave if (p.stream, p.layer) == (stream, layer)]
        for source, cells, height in edges[(layer - 1) % 2][stream]:
            seen = cells[readers]
            first = seen.long().argmax(0).tolist()
            for position in seen.any(0).nonzero().flatten().tolist():
                node = Node(source, position, layer - 1 if height is None else height)
                if node not in came:
                    came[node] = Node(stream, readers[first[position]], layer)
                    found.append(node)
    return found


def _goals(batch: Batch, target: Target, row: int, position: int) -> set[tuple[str, int]]:
    """The nodes that show the answer."""
    answers, shown, _ = _answers_shown(batch, target, row)
    answer = int(answers[position])
    goals = set() if target.copying else {("encoder", int(p)) for p in (shown == answer).nonzero().flatten()}
    if target.at_decoder and batch.decoder is not None:
        goals |= {("decoder", int(p)) for p in (_written(batch.decoder, target, row) == answer).nonzero().flatten()}
    return goals


def _sentence(target: Target, leaking: tuple[int, ...], by_design: tuple[int, ...], scored: int) -> str:
    if leaking:
        return f"{len(leaking)} of {scored} scored answers can reach their own prediction: the model can copy them."
    if by_design and len(by_design) == scored > 1:
        return f"All {scored} scored answers are shown on purpose: there is nothing to guess."
    if by_design:
        return f"{len(by_design)} of {scored} scored answers are shown on purpose; the model cannot know which."
    if not scored:
        return "Nothing is scored in this text."
    if target.copying:
        return "No answer can reach its own prediction through the decoder; the input shows words on purpose."
    return "No scored answer can reach its own prediction."
