"""The merges of BPE on a text, state by state."""

from typing import Any

from playground.errors import UserError
from playground.tokenizing import bytelevel
from playground.tokenizing.merging import Merger, Symbol
from playground.tokenizing.pieces import plain
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.words import clean

MOST_CHARACTERS = 1_000
"""Characters of a text whose merges are shown."""

Runs = list[tuple[int, list[Symbol]]]
"""The number of a word, and symbols of it that may be merged with each other."""


def merge_steps(tokenizer: Tokenizer, text: str) -> list[dict[str, Any]]:
    """The states of a text: its letters first, then one for each merge, which joins the same pair everywhere.

    A state is JSON-able: `pieces` are [string, first, last, word] with places in the clean text; `joined` are the
    indices of the pieces that are new; `pair` the two strings that were joined (empty at first); `rank` the number
    of the merge in the order in which it was learnt (-1 at first). The last state is the result of `encode`.
    """
    merger = tokenizer.cut
    if not isinstance(merger, Merger):
        raise UserError(f"Only BPE merges pieces; this tokenizer's kind is {tokenizer.kind!r}, choose bpe or bytes.")
    if len(text) > MOST_CHARACTERS:
        raise UserError(f"The text has {len(text)} characters; merges are shown for at most {MOST_CHARACTERS}.")
    runs: Runs = [
        (index, [(symbol, match.start() + first, match.start() + last) for symbol, first, last in run])
        for index, match in enumerate(tokenizer.find(clean(text)))
        for run in merger.spell(tokenizer.small(match.group()))
    ]
    states = [_state(tokenizer, merger, runs, runs, -1)]
    while True:
        waiting = [merger.next_merge(symbols) for _, symbols in runs]
        rank = min((found[0] for found in waiting if found), default=None)
        if rank is None:
            return states
        merged = [
            (word, merger.merged(symbols, rank) if found and found[0] == rank else symbols)
            for (word, symbols), found in zip(runs, waiting, strict=True)
        ]
        states.append(_state(tokenizer, merger, runs, merged, rank))
        runs = merged


def _state(tokenizer: Tokenizer, merger: Merger, before: Runs, after: Runs, rank: int) -> dict[str, Any]:
    symbols = [
        (word, symbol, symbol in old) for (_, old), (word, new) in zip(before, after, strict=True) for symbol in new
    ]

    def readable(coded: str) -> str:
        name = plain(merger.name(coded))
        return bytelevel.show(name) if tokenizer.kind == "bytes" else name

    return {
        "pieces": [[readable(coded), first, last, word] for word, (coded, first, last), _ in symbols],
        "joined": [index for index, (_, _, old) in enumerate(symbols) if not old],
        "pair": [plain(piece) for piece in tokenizer.merges[rank]] if rank >= 0 else [],
        "rank": rank,
    }
