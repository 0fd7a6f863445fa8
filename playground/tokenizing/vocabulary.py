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
    place = {token: i for i, token in enumerate(SPECIAL_TOKENS)}
    return Specials(
        pad=place["[PAD]"],
        start=place["[START]"],
        end=place["[END]"],
        cls=place["[CLS]"],
        sep=SEPARATOR,
        mask=place["[MASK]"],
        sentinels=tuple(place[s] for s in SENTINELS),
        unknown=UNKNOWN,
        first_word=FIRST_WORD,
        size=size,
    )
