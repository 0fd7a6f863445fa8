"""What was learnt as a tokenizer of the `tokenizers` library, which does the splitting."""

from collections.abc import Collection, Sequence
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from playground.tokenizing.bytelevel import TO_SPACE, splitter
from playground.tokenizing.pieces import MARK, Learnt, continues, plain
from playground.tokenizing.vocabulary import FIRST_WORD, SPECIAL_TOKENS, UNKNOWN
from playground.tokenizing.words import WORD

SPACE = "▁"
"""What SentencePiece writes for the space before a word (Kudo and Richardson, arXiv:1808.06226, sec. 3.2)."""

LONGEST_WORD = 100_000
"""WordPiece of the library takes longer words for unknown."""


def library_of(kind: str, learnt: Learnt, lower: bool = False, across: bool = False) -> Tokenizer:
    """A tokenizer of a kind with these pieces, the special tokens of our layout before them."""
    library = Tokenizer(_model(kind, learnt))
    if lower:
        library.normalizer = normalizers.Lowercase()
    if kind == "bytes":
        library.pre_tokenizer, library.decoder = splitter(across), decoders.ByteLevel()
        return library
    word = WORD.pattern.replace(r"\w", r"\p{L}\p{N}_")  # what the library calls Python's word characters
    words = pre_tokenizers.Split(Regex(word), "removed", invert=True)
    if kind == "unigram":
        inner = pre_tokenizers.Metaspace(split=False)
        library.pre_tokenizer, library.decoder = pre_tokenizers.Sequence([words, inner]), decoders.Metaspace()
        return library
    library.pre_tokenizer = words
    if kind != "word":
        library.decoder = decoders.WordPiece()
    return library


def continuing(vocabulary: Sequence[str], specials: Collection[int]) -> list[bool]:
    """Whether each entry of a vocabulary, as `Tokenizer.words` has it, continues the word of the piece before it.

    That is marked; in byte-level and SentencePiece vocabularies what has a space before it is marked instead. A letter
    of the text may look like such a mark (Maltese has "Ġ"), so the mark is what most entries have.
    """
    counts = {mark: sum(word.startswith(mark) for word in vocabulary) for mark in (TO_SPACE, SPACE)}
    space = max(counts, key=lambda mark: counts[mark])
    space = space if counts[space] > sum(map(continues, vocabulary)) else ""
    return [
        number not in specials and (not word.startswith(space) if space else continues(word))
        for number, word in enumerate(vocabulary)
    ]


def _model(kind: str, learnt: Learnt) -> Any:
    names, unknown = [*SPECIAL_TOKENS, *learnt.pieces], SPECIAL_TOKENS[UNKNOWN]
    if kind == "unigram":
        names[FIRST_WORD:] = (plain(piece) if continues(piece) else SPACE + piece for piece in learnt.pieces)
        return models.Unigram([*zip(names, [0.0] * FIRST_WORD + list(learnt.scores), strict=True)], UNKNOWN, False)
    vocab = {name: number for number, name in enumerate(names)}
    if kind == "word":
        return models.WordLevel(vocab, unknown)
    if kind == "wordpiece":
        return models.WordPiece(vocab, unk_token=unknown, max_input_chars_per_word=LONGEST_WORD)
    mark = {} if kind == "bytes" else {"continuing_subword_prefix": MARK}
    return models.BPE(vocab, list(learnt.merges), unk_token=unknown, **mark)
