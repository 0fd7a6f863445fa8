"""A text cut into the pieces of a vocabulary, drawn over the text itself."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from playground.tokenizing import Tokenizer
from widgets.bundle import sheet

LONGEST = 600
"""Characters of a text that are drawn in pieces; each piece is an element of the page."""

Piece = tuple[str, int, int]
"""A piece as it is written in the vocabulary, and from which to which character of the text it reaches."""

STYLE = f"<style>{sheet(__file__)}</style>"


def cut(tokenizer: Tokenizer, text: str) -> tuple[list[Piece], set[int]]:
    """The pieces of a text, and which of them are unknown."""
    found = tokenizer.encode(text)
    shown = tokenizer.decode(found.ids)
    pieces = [(piece, *position) for piece, position in zip(shown, found.offsets, strict=True)]
    return pieces, {k for k, number in enumerate(found.ids) if number == tokenizer.specials.unknown}


def markup(text: str, pieces: Sequence[Piece], fresh: Iterable[int] = (), unknown: Iterable[int] = ()) -> str:
    """The text with a frame around every piece; what was just joined and what is unknown is marked."""
    marks = {**dict.fromkeys(fresh, "fresh"), **dict.fromkeys(unknown, "unknown")}
    return f'{STYLE}<p class="pieces">{"".join(_framed(text, pieces, marks))}</p>'


def _framed(text: str, pieces: Sequence[Piece], marks: dict[int, str]) -> Iterator[str]:
    """Frames in the order of the text; a piece of a few bytes of a letter that is drawn already shows its bytes."""
    done = 0
    for k, (piece, first, last) in enumerate(pieces):
        yield escape(text[done:first])
        drawn = first < done
        kind = f"{marks.get(k, '')} {'byte' if drawn else ''}".strip()
        shown = piece if drawn else text[first:last]
        yield f'<span{f" class={kind!r}" if kind else ""} title="{escape(piece)}">{escape(shown)}</span>'
        done = max(done, last)
    yield escape(text[done:])


def numbers(tokenizer: Tokenizer, pieces: Sequence[Piece], unknown: set[int], words: int) -> dict[str, str]:
    """How many entries there are, into how many pieces the text falls, and how many of them are unknown."""
    per_word = f"{len(pieces) / max(1, words):.2f}"
    return {
        "entries in the vocabulary": f"{len(tokenizer):,}", "pieces of this text": f"{len(pieces):,}",
        "pieces per word": per_word, "unknown pieces": f"{len(unknown):,}",
    }  # fmt: skip


def describe_merge(states: Sequence[dict[str, Any]], at: int) -> str:
    """What the merge at one position of the stepper did."""
    state = states[at]
    if not state["pair"]:
        return f'<p class="quiet">At first every letter is a piece: {len(state["pieces"])} pieces.</p>'
    left, right = map(escape, state["pair"])
    return (
        f'<p class="quiet">Merge {at} of {len(states) - 1}: “{left}” and “{right}” become “{left}{right}”, '
        f"the pair learned as number {state['rank'] + 1}. {len(state['pieces'])} pieces are left.</p>"
    )
