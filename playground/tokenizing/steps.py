"""The merges of BPE on a text, state by state."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

from playground.errors import UserError
from playground.tokenizing.pieces import plain
from playground.tokenizing.tokenizer import Tokenizer, visible
from playground.tokenizing.words import clean

MOST_CHARACTERS = 1_000
"""Characters of a text whose merges are shown."""

Symbol = tuple[str, int, int]
"""A piece as the model has it, and its first position in the text and the one after its last."""

Ranks = dict[tuple[str, str], int]


def merge_steps(tokenizer: Tokenizer, text: str) -> list[dict[str, Any]]:
    """The states of a text: its letters first, then one for each merge, which joins the same pair everywhere.

    A state is JSON-able: `pieces` are [string, first, last, word] with positions in the clean text; `joined` are the
    indices of the pieces that are new; `pair` the two strings that were joined (empty at first); `rank` the number
    of the merge in the order in which it was learnt (-1 at first). The last state is the result of `encode`.
    """
    merges = merges_of(tokenizer)
    if not merges:
        raise UserError(f"Only BPE merges pieces; this tokenizer's kind is {tokenizer.kind!r}, choose bpe or bytes.")
    if len(text) > MOST_CHARACTERS:
        raise UserError(f"The text has {len(text)} characters; merges are shown for at most {MOST_CHARACTERS}.")
    ranks: Ranks = {pair: rank for rank, pair in enumerate(merges)}
    text = clean(text)
    words = _letters(tokenizer, text)
    states = [{**_state(tokenizer, text, words, words), "pair": [], "rank": -1}]
    while True:
        waiting = [_next_merge(symbols, ranks) for symbols in words]
        rank = min((found for found, _ in filter(None, waiting)), default=None)
        if rank is None:
            return states
        merged = [_merged(symbols, ranks, rank, tokenizer.mark) for symbols in words]
        pair = [plain(tokenizer.shown(name)) for name in merges[rank]]
        states.append({**_state(tokenizer, text, words, merged), "pair": pair, "rank": rank})
        words = merged


def merges_of(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """The merges of BPE as the model has them, the earliest learnt first; none of another kind."""
    found = tokenizer.settings["model"].get("merges") or ()
    pairs = (pair.split(" ") if isinstance(pair, str) else pair for pair in found)
    return [(left, right) for left, right in pairs]


def _letters(tokenizer: Tokenizer, text: str) -> list[list[Symbol]]:
    """The single letters of each word, before anything is merged; of a byte-level model its bytes."""
    encoding, found = tokenizer.library.encode(text, add_special_tokens=False), list[list[Symbol]]()
    for _, group in groupby(zip(encoding.word_ids, encoding.offsets, strict=True), lambda piece: piece[0]):
        spans = [span for _, span in group]
        symbols: list[Symbol] = []
        for position in range(spans[0][0], spans[-1][1]):
            for letter in tokenizer.letters(text[position]):
                symbols.append((tokenizer.mark * bool(symbols) + letter, position, position + 1))
        letter, first, last = symbols.pop()
        found.append([*symbols, (letter + tokenizer.suffix, first, last)])
    return found


def _next_merge(symbols: Sequence[Symbol], ranks: Ranks) -> tuple[int, int] | None:
    """The rank of the earliest learnt merge that is possible, and the leftmost position where it is."""
    possible = ((ranks.get((a[0], b[0])), k) for k, (a, b) in enumerate(pairwise(symbols)))
    return min(((rank, k) for rank, k in possible if rank is not None), default=None)


def _merged(symbols: list[Symbol], ranks: Ranks, rank: int, mark: str) -> list[Symbol]:
    """The symbols after one merge, wherever it is the next one."""
    while (found := _next_merge(symbols, ranks)) and found[0] == rank:
        k = found[1]
        (left, first, _), (right, _, last) = symbols[k : k + 2]
        symbols = [*symbols[:k], (left + right.removeprefix(mark), first, last), *symbols[k + 2 :]]
    return symbols


def _readable(tokenizer: Tokenizer, name: str) -> str:
    """A piece as the model has it, without its mark; one that the vocabulary lacks is [UNK]."""
    number = tokenizer.library.token_to_id(name)
    return tokenizer.decode([tokenizer.specials.unknown if number is None else number])[0]


def _state(tokenizer: Tokenizer, text: str, before: list[list[Symbol]], after: list[list[Symbol]]) -> dict[str, Any]:
    symbols = [
        (word, symbol, symbol in old)
        for word, (old, new) in enumerate(zip(before, after, strict=True))
        for symbol in new
    ]
    return {
        "pieces": [[_readable(tokenizer, name), *visible(text, *span), word] for word, (name, *span), _ in symbols],
        "joined": [index for index, (_, _, old) in enumerate(symbols) if not old],
    }
