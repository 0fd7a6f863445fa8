"""The layout of every vocabulary: the same 39 special tokens first, then the words or pieces."""

from playground.batch import Specials

SENTINELS = tuple(f"<{k}>" for k in range(32))
"""Sentinels (T5, arXiv:1910.10683, sec. 3.1.4)."""

SPECIAL_TOKENS = ("[PAD]", "[START]", "[END]", "[CLS]", "[SEP]", "[MASK]", *SENTINELS, "[UNK]")

ROLES = ("pad", "start", "end", "cls", "sep", "mask", "unknown")
"""What special tokens are for; the sentinels are numbered besides."""

SEPARATOR = SPECIAL_TOKENS.index("[SEP]")
UNKNOWN = SPECIAL_TOKENS.index("[UNK]")
FIRST_WORD = len(SPECIAL_TOKENS)


def specials(size: int) -> Specials:
    """The ids of the special tokens of a vocabulary of `size` entries, special tokens included."""
    return Specials(
        size,
        ids=tuple(range(UNKNOWN)),
        roles=dict(zip(ROLES, (0, 1, 2, 3, SEPARATOR, 5, UNKNOWN), strict=True)),
        sentinels=tuple(range(6, UNKNOWN)),
    )
