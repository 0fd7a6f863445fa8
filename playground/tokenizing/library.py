"""What was learnt as a tokenizer.json of the `tokenizers` library, which does the splitting."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers.pre_tokenizers import ByteLevel

from playground.tokenizing.bytelevel import raw
from playground.tokenizing.pieces import MARK, Learnt, continues, plain
from playground.tokenizing.vocabulary import FIRST_WORD, SPECIAL_TOKENS, UNKNOWN
from playground.tokenizing.words import CHUNK, WORD

SPACE = "▁"
"""What SentencePiece writes for the space before a word (Kudo and Richardson, arXiv:1808.06226, sec. 3.2)."""

LONGEST_WORD = 100_000
"""WordPiece of the library takes longer words for unknown."""


def tokenizer_json(kind: str, learnt: Learnt, lower: bool = False) -> dict[str, Any]:
    """A tokenizer of a kind with these pieces, the special tokens of our layout before them."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"} if lower else None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [_word_split(learnt.across), *_inner(kind)],
        },
        "post_processor": None,
        "decoder": _decoder(kind),
        "model": _model(kind, learnt),
    }


def _word_split(across: bool) -> dict[str, Any]:
    """The splitter into words: what their pattern finds is kept."""
    pattern = CHUNK if across else WORD
    escape = re.compile(r"\\x([89a-f][0-9a-f])|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
    text = escape.sub(lambda code: chr(int(code[1] or code[2] or code[3], 16)), pattern.pattern)
    text = text.replace(r"\w", r"\p{L}\p{N}_")  # what Python means by it; the library's is another
    return {"type": "Split", "pattern": {"Regex": text}, "behavior": "Removed", "invert": True}


def _inner(kind: str) -> list[dict[str, Any]]:
    if kind == "bytes":
        return [{"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}]
    if kind == "unigram":
        return [{"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": False}]
    return []


def _decoder(kind: str) -> dict[str, Any] | None:
    if kind == "unigram":
        return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": False}
    return {"type": "WordPiece", "prefix": MARK, "cleanup": True} if kind not in ("word", "bytes") else None


def _model(kind: str, learnt: Learnt) -> dict[str, Any]:
    names, unknown = [*SPECIAL_TOKENS, *_names(kind, learnt)], SPECIAL_TOKENS[UNKNOWN]
    vocab = {name: number for number, name in enumerate(names)}
    if kind == "word":
        return {"type": "WordLevel", "vocab": vocab, "unk_token": unknown}
    if kind == "wordpiece":
        longest = {"max_input_chars_per_word": LONGEST_WORD}
        return {"type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": MARK, **longest, "vocab": vocab}
    if kind == "unigram":
        scored = [list(pair) for pair in zip(names, [0.0] * FIRST_WORD + list(learnt.scores), strict=True)]
        return {"type": "Unigram", "unk_id": UNKNOWN, "vocab": scored, "byte_fallback": False}
    merges: Sequence[tuple[str, str]] = learnt.merges
    if kind == "bytes":
        merges = [(_letters(a), _letters(b)) for a, b in raw(learnt).merges]
    return {
        "type": "BPE", "dropout": None, "unk_token": unknown, "continuing_subword_prefix": MARK,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
        "vocab": vocab, "merges": [list(pair) for pair in merges],
    }  # fmt: skip


def _names(kind: str, learnt: Learnt) -> Sequence[str]:
    """The string of each piece as the library's model has it."""
    if kind == "bytes":
        return tuple(map(_letters, raw(learnt).pieces))
    if kind == "unigram":
        return tuple(plain(piece) if continues(piece) else SPACE + piece for piece in learnt.pieces)
    return learnt.pieces


def _tables() -> tuple[dict[str, str], dict[str, str]]:
    """A letter for each byte to the library's letter for it (GPT-2's released code), and back."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    to = {chr(byte): chr(byte) for byte in visible} | {chr(byte): chr(256 + k) for k, byte in enumerate(others)}
    assert set(to.values()) == set(ByteLevel.alphabet())
    return to, {theirs: ours for ours, theirs in to.items()}


TO_LIBRARY, FROM_LIBRARY = _tables()


def _letters(piece: str) -> str:
    return (MARK if continues(piece) else "") + "".join(TO_LIBRARY[letter] for letter in plain(piece))


def types_of(part: Any) -> list[str]:
    """The types of a step of a tokenizer.json and of the steps in it."""
    if not isinstance(part, Mapping):
        return []
    inside = part.get("pretokenizers") or part.get("normalizers") or ()
    return [str(part.get("type")), *(name for each in inside for name in types_of(each))]
