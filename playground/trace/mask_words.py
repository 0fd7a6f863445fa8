"""An attention mask in a sentence: who may look at whom, read off its own cells, and how many pairs that is."""

from collections.abc import Callable, Mapping, Sequence

Cells = Sequence[Sequence[int]]
"""A mask as rows of 0 and 1, query x key, without padding."""

STREAMS = {
    "encoder": ("", "word"),
    "content": ("Content stream: ", "word"),
    "query": ("Query stream: ", "word"),
    "decoder": ("Decoder: ", "word"),
    "cross": ("Cross-attention: ", "word of the decoder"),
}
"""How the sentence of a mask begins, and what a row of it is."""


MARKED = "only at the words that its row of the matrix marks"


def masks_in_words(masks: Mapping[str, Cells]) -> str:
    """What each mask allows, one sentence for each; the first says what is counted."""
    alone = len(masks) == 1
    sentences = []
    for name, cells in masks.items():
        stream, _, above = name.partition(" ")
        begin, reader = STREAMS[stream]
        begin = "" if alone else begin or "Encoder: "
        begin = begin.replace(":", ", every second layer:") if above else begin
        allowed = _at(cells, cross=stream == "cross")
        which = "every" if allowed.endswith("every word") or stream == "cross" else "each"
        who = "" if sentences and stream == "query" else f"{which} {reader} may look "
        pairs = f"({sum(map(sum, cells))} of {sum(map(len, cells))}{'' if sentences else ' query-key pairs'})"
        sentence = f"{begin}{who}{allowed} {pairs}."
        sentences.append(sentence[0].upper() + sentence[1:])
    return " ".join(sentences)


def _at(cells: Cells, cross: bool) -> str:
    """At what a word may look."""
    if all(map(all, cells)):
        return "at every word of the encoder" if cross else "at every word"
    if cross:
        shared = all(row == cells[0] for row in cells)
        return f"at {sum(cells[0])} of the {_count(len(cells[0]))} of the encoder" if shared else MARKED
    window, prefix = _window(cells), _prefix(cells)
    patterns: dict[str, Callable[[int, int], bool]] = {
        "only at itself": lambda i, j: i == j,
        "only at itself and the words before it": lambda i, j: j <= i,
        "only at itself and the words after it": lambda i, j: j >= i,
        "only at the words before it": lambda i, j: j < i,
        "only at the words after it": lambda i, j: j > i,
        "at every word but itself": lambda i, j: i != j,
        f"only at itself and the {_count(window)} before it": lambda i, j: 0 <= i - j <= window,
        f"only at itself and the {_count(window)} on either side": lambda i, j: abs(i - j) <= window,
        f"only at the {_count(window)} on either side, not at itself": lambda i, j: 0 < abs(i - j) <= window,
        f"at the first {_count(prefix)}, at itself and at the words before it": lambda i, j: j < prefix or j <= i,
    }
    for words, allows in patterns.items():
        if all(bool(cell) == allows(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row)):
            return words
    return _in_order(cells) or MARKED


def _in_order(cells: Cells) -> str:
    """The words of a mask that is an order of prediction, in which a word sees more than those before it."""
    seen = [{j for j, cell in enumerate(row) if cell} for row in cells]
    before = [{j for j, other in enumerate(seen) if len(other) < len(own)} for own in seen]
    given = min(seen, key=len)
    if seen == before:
        return "only at the words before it in the order"
    if seen == [{i} | given | earlier for i, earlier in enumerate(before)]:
        first = f", the {len(given)} given words" if len(given) > 1 else ""
        return f"only at itself{first} and the words before it in the order"
    return ""


def _window(cells: Cells) -> int:
    """How far a word looks back at most."""
    return max((i - j for i, row in enumerate(cells) for j, cell in enumerate(row) if cell), default=0)


def _prefix(cells: Cells) -> int:
    """How many words from the first on are open to the first one."""
    return next((j for j, cell in enumerate(cells[0]) if not cell), len(cells))


def _count(number: int) -> str:
    return "one word" if number == 1 else f"{number} words"
