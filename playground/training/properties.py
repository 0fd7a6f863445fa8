"""What an entry is like in training and in use: measured with its own model on its own batches, nothing declared."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median

import torch
from torch import Tensor

from playground import leaks
from playground.answers import Target
from playground.batch import Action, Batch, Specials, Tokens, arange_rows
from playground.corpora import open_corpus
from playground.models import LanguageModel
from playground.objectives.steps import specimens
from playground.rng import generator
from playground.slicing import split_rows
from playground.training.events import Stepped
from playground.training.loop import Run, RunState, prepared
from playground.zoo.entry import Entry

TOKENS = 20_000
"""Tokens of a corpus that are enough for a few steps."""

BATCHES = 32
"""Training batches in which positions are counted; a mixture draws its part anew in each."""

ROWS = 16
"""Rows of text in which words are changed at once, of 64: rows of one batch may have masks of their own (UniLM)."""

WARM_UP, STEPS = 3, 9
"""Steps before the clock counts, and steps of which the median is taken."""


@dataclass(frozen=True)
class Properties:
    """The measured properties of one entry.

    Positions are those of the network that is kept: a generator's are left out, its time is not.
    """

    name: str
    right_context: bool
    """The state of a word in a plain text changes, to the bit, with the words after it."""
    mismatch: float
    """Share of the positions read in training that hold a mask token or a sentinel for hidden words."""
    generates: bool
    """Some target for words is answered without the words that come later, so that the model can generate text."""
    taught: float
    """Share of the positions read in training that carry a loss."""
    step_ms: float
    """Median time of a training step in ms, with the drawing of its batch unless many are drawn at once."""
    taught_us: float
    """That time in µs for each position that carries a loss."""
    parameters: int
    """Counted with the vocabulary of the entry's corpus."""


def measure_properties(entry: Entry, seed: int = 0) -> Properties:
    """What an entry's last phase is like on a little of its corpus; all but the times follow from the seed."""
    return measured(prepared(Run(replace(entry, phases=()), open_corpus(entry.corpus, tokens=TOKENS), seed)))


def measured(state: RunState) -> Properties:
    """The properties of the entry of a run that has not begun; the run takes its first steps."""
    model, rows = state.learner.model.eval(), state.held_out
    batches = specimens(state.learner.objective, rows, generator(state.run.seed, "properties"))
    right_context, generates = sees_right(model, rows), any(writes_on(model, each) for each in batches)
    read, signs, taught = (fmean(each) for each in zip(*_counts(state), strict=True))
    seconds = median(_seconds(state))
    return Properties(
        name=state.run.entry.name,
        right_context=right_context,
        mismatch=signs / read,
        generates=generates,
        taught=taught / read,
        step_ms=1e3 * seconds,
        taught_us=1e6 * seconds / taught,
        parameters=sum(p.numel() for p in model.parameters()),
    )


@torch.no_grad()
def sees_right(model: LanguageModel, tokens: Tokens) -> bool:
    """Whether the state of some word of a plain text changes with the words after it; each row changes elsewhere."""
    position, lengths = arange_rows(tokens.ids), tokens.lengths[:, None]
    first = 1 + torch.arange(len(lengths), device=lengths.device)[:, None] % (lengths - 1).clamp(min=1)
    ids = _other_words(tokens.ids, tokens.valid & (position >= first), tokens.specials)
    before, after = (model.features(text) for text in (tokens, replace(tokens, ids=ids)))
    return bool(((before != after).any(-1) & tokens.valid & (position < first)).any())


@torch.no_grad()
def writes_on(model: LanguageModel, batch: Batch) -> bool:
    """Whether a target for words is answered in order by the network that is kept, by scores of all words."""
    return any(
        _in_order(model, replace(part, auxiliary=(), targets=(target,)))
        for rows in split_rows(batch, ROWS)
        for part in _kept(rows)
        for target in part.targets
        if target.kind.names_words and target.kind.plain and bool(target.loss_mask.any())
    )


def _in_order(model: LanguageModel, part: Batch) -> bool:
    """Whether in some row no answer leaks or changes with the words from its own position on, wherever these begin.

    What the answering position itself shows stands in for its answer and stays. In a decoder each position
    answers for the next one.
    """
    [target], stream = part.targets, part.answering
    shown = arange_rows(stream.ids) if target.at_decoder else stream.origin
    [before] = model(part)
    answered = before.at(shown + 1 if target.at_decoder else target.origin)
    in_order = torch.tensor([not leaks.check(part, row=row).leak for row in range(len(stream.ids))])
    tested = torch.zeros_like(in_order)
    for first in range(1, stream.ids.shape[1]):
        changed = stream.valid & (shown >= first)
        bound = (answered < first) | ((answered == first) & ~before.at(changed))
        bound &= (answered >= 0) & changed.any(1)[before.rows]
        [after] = model(_with_ids(part, target, _other_words(stream.ids, changed, part.tokens.specials)))
        in_order[before.rows[bound & (before.scores != after.scores).any(1)]] = False
        tested[before.rows[bound]] = True
        if not bool(in_order.any()):
            return False
    return bool((in_order & tested).any())


def _with_ids(part: Batch, target: Target, ids: Tensor) -> Batch:
    """The part with other tokens in the stream that answers a target."""
    name = "decoder" if target.at_decoder else "inputs"
    return replace(part, **{name: replace(part.stream_of(target), ids=ids)})


def _other_words(ids: Tensor, changed: Tensor, specials: Specials) -> Tensor:
    """The ids `[b, n]` with another word at each changed position."""
    return specials.nth_word((specials.number_of(ids) + 1) % len(specials.words)).where(changed, ids)


def _kept(batch: Batch) -> Iterator[Batch]:
    """What is read of a batch by the network that is kept after training, in its other direction too."""
    return (part for part in batch.with_auxiliary if not part.is_generator)


def _counts(state: RunState) -> Iterator[tuple[int, int, int]]:
    """Of each training batch how many positions are read, hold a mask token or a sentinel, and are taught."""
    for step in range(BATCHES):
        cells = [cells for part in _kept(state.blocks.at(step)) for cells in _cells(part)]
        read, signs, taught = (sum(int(each.sum()) for each in kind) for kind in zip(*cells, strict=True))
        yield read, signs, taught


def _cells(part: Batch) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The same of each stream of a part as booleans, `[b, n]` each."""
    signs = torch.tensor(part.tokens.specials.signs, device=part.inputs.ids.device)
    hidden = (part.actions != Action.KEPT).any(1, keepdim=True)  # a control code is a sentinel that hides nothing
    for stream in (part.inputs, part.decoder):
        if stream is not None:
            asked = [target.loss_mask for target in part.targets if part.stream_of(target) is stream]
            taught = torch.stack([torch.zeros_like(stream.valid), *asked]).any(0)
            yield stream.valid, torch.isin(stream.ids, signs) & hidden & stream.valid, taught & stream.valid


def _seconds(state: RunState) -> list[float]:
    """The seconds of each training step after the warm-up."""
    state.learner.model.train()
    at = [0.0, *(e.seconds for _ in range(WARM_UP + STEPS) for e in state.step() if isinstance(e, Stepped))]
    return [later - earlier for earlier, later in pairwise(at)][WARM_UP:]
