"""The layout of every vocabulary: the same 39 special tokens first, then the words or pieces."""

from playground.batch import Specials

SENTINELS = tuple(f"<{k}>" for k in range(32))
"""Sentinels (T5, arXiv:1910.10683, sec. 3.1.4)."""

SPECIAL_TOKENS = ("[PAD]", "[START]", "[END]", "[CLS]", "[SEP]", "[MASK]", *SENTINELS, "[UNK]")

SEPARATOR = SPECIAL_TOKENS.index("[SEP]")
UNKNOWN = SPECIAL_TOKENS.index("[UNK]")
FIRST_WORD = len(SPECIAL_TOKENS)


def specials(size: int) -> Specials:
    """The ids of the special tokens of a vocabulary of `size` entries, special tokens included."""
    return Specials(
        size,
        ids=tuple(range(UNKNOWN)),
        roles={"pad": 0, "start": 1, "end": 2, "cls": 3, "sep": SEPARATOR, "mask": 5, "unknown": UNKNOWN},
        sentinels=tuple(range(6, UNKNOWN)),
    )
