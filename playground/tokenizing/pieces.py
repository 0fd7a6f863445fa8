"""Pieces of words learnt by merging the most frequent pair again and again (BPE, arXiv:1508.07909, sec. 3.2)."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from playground.tokenizing.vocabulary import SPECIAL_TOKENS, UNKNOWN

MARK = "##"
"""Stands before a piece that continues a word."""

READ = 2_000_000
"""Words that the training of the merges reads; longer texts are scaled down, so the merges stay the same."""

ALPHABET = 0.25
"""Largest share of the vocabulary for characters; each takes two entries, as a first letter and as a later one."""

PRIVATE = 0xF0000
"""The first of the characters that Unicode leaves to private use."""


def continues(piece: str) -> bool:
    """Whether a piece of the vocabulary continues a word."""
    return piece.startswith(MARK) and len(piece) > len(MARK)


def plain(piece: str) -> str:
    """A piece as a person reads it."""
    return piece.removeprefix(MARK)


def merger(numbers: Mapping[str, int], merges: Sequence[tuple[str, str]]) -> models.BPE:
    """The library's model that cuts one word into pieces."""
    return models.BPE(
        vocab=dict(numbers), merges=list(merges), unk_token=SPECIAL_TOKENS[UNKNOWN], continuing_subword_prefix=MARK
    )


def learn(counts: Counter[str], room: int) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """At most `room` pieces and the merges that make them; every character of the alphabet is a piece, too."""
    letters = _alphabet(counts, max(1, int(room * ALPHABET)))
    known = dict.fromkeys([*letters, *(MARK + letter for letter in letters)])
    merges = []
    for left, right in _merges(counts, letters, room):
        if len(known) >= room:
            break
        merges.append((left, right))
        known[left + plain(right)] = None
    return tuple(known), tuple(merges)


def _alphabet(counts: Counter[str], most: int) -> list[str]:
    letters: Counter[str] = Counter()
    for word, count in counts.items():
        for letter in word:
            letters[letter] += count
    return sorted(letter for letter, _ in letters.most_common(most))


def _merges(counts: Counter[str], letters: list[str], room: int) -> list[tuple[str, str]]:
    """The merges that the library learns, most useful first.

    The library's own mark for later letters makes ties fall differently from run to run, so here every later letter
    is a private character of its own while the merges are learnt.
    """
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=room, min_frequency=2, show_progress=False)
    later = {letter: chr(PRIVATE + k) for k, letter in enumerate(letters)}
    library.train_from_iterator(_text(counts, later), trainer)
    back = {code: letter for letter, code in later.items()}
    merges = json.loads(library.to_str())["model"]["merges"]
    return [(_marked(left, back), _marked(right, back)) for left, right in merges]


def _marked(piece: str, back: Mapping[str, str]) -> str:
    """A piece of private characters with the mark that says the same."""
    return (MARK if piece[0] in back else "") + "".join(back.get(letter, letter) for letter in piece)


def _text(counts: Counter[str], later: Mapping[str, str]) -> Iterator[str]:
    """Every word as often as it occurs; a letter outside the alphabet leaves a gap."""
    scale = min(1.0, READ / max(1, counts.total()))
    for word, count in counts.items():
        first = word[0] if word[0] in later else " "
        coded = first + "".join(later.get(letter, " ") for letter in word[1:])
        yield " ".join([coded] * max(1, round(count * scale)))
