"""How a text comes together while the merges of BPE happen, state by state."""

from typing import Any

from playground.errors import Refusal
from playground.tokenizing import bytelevel
from playground.tokenizing.merging import Merger, Symbol, merge_everywhere
from playground.tokenizing.pieces import plain
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.words import clean

MOST_CHARACTERS = 1_000
"""Characters of a text whose merges are shown."""

Runs = list[tuple[int, list[Symbol]]]
"""The number of a word, and symbols of it that may be merged with each other."""


def merge_steps(tokenizer: Tokenizer, text: str) -> list[dict[str, Any]]:
    """The states of a text: its letters first, then one for each merge, which joins the same pair wherever it stands.

    A state is JSON-able: `pieces` are [string, first, last, word] with places in the clean text; `joined` are the
    indices of the pieces that are new; `pair` the two strings that were joined (empty at first); `rank` the number
    of the merge in the order in which it was learnt (-1 at first). The last state is what `encode` gives.
    """
    merger = tokenizer.cut
    if not isinstance(merger, Merger):
        raise Refusal(f"Only BPE merges pieces; this tokenizer's kind is {tokenizer.kind!r}, choose bpe or bytes.")
    if len(text) > MOST_CHARACTERS:
        raise Refusal(f"The text has {len(text)} characters; merges are shown for at most {MOST_CHARACTERS}.")
    runs = _spell(tokenizer, merger, clean(text))
    states = [_state(tokenizer, merger, runs, runs, -1)]
    while found := merge_everywhere(merger, [symbols for _, symbols in runs]):
        merged = [(word, symbols) for (word, _), symbols in zip(runs, found[0], strict=True)]
        states.append(_state(tokenizer, merger, runs, merged, found[1]))
        runs = merged
    return states


def _spell(tokenizer: Tokenizer, merger: Merger, text: str) -> Runs:
    """The letters of a text in runs, with their places in the text."""
    return [
        (index, [(sign, match.start() + first, match.start() + last) for sign, first, last in run])
        for index, match in enumerate(tokenizer.find(text))
        for run in merger.spell(tokenizer.small(match.group()))
    ]


def _state(tokenizer: Tokenizer, merger: Merger, before: Runs, after: Runs, rank: int) -> dict[str, Any]:
    symbols = [
        (word, symbol, symbol in old) for (_, old), (word, new) in zip(before, after, strict=True) for symbol in new
    ]
    return {
        "pieces": [[_readable(tokenizer, merger, sign), first, last, word] for word, (sign, first, last), _ in symbols],
        "joined": [index for index, (_, _, old) in enumerate(symbols) if not old],
        "pair": [plain(piece) for piece in tokenizer.merges[rank]] if rank >= 0 else [],
        "rank": rank,
    }


def _readable(tokenizer: Tokenizer, merger: Merger, sign: str) -> str:
    name = plain(merger.name(sign))
    return bytelevel.show(name) if tokenizer.kind == "bytes" else name
