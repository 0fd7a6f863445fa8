"""Pieces of words learnt by merging the most frequent pair again and again (BPE, arXiv:1508.07909, sec. 3.2)."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from playground.tokenizing.pieces import (
    ALPHABET,
    Code,
    Counts,
    Learnt,
    Piece,
    alphabet,
    both,
    code_of,
    coded_text,
    joined,
)
from playground.tokenizing.vocabulary import SPECIAL_TOKENS, UNKNOWN

Run = tuple[str, list[tuple[int, int]]]
"""Letters that may be merged with each other, and the place of each in the word."""

Symbol = tuple[str, int, int]
"""A piece in private characters, and from which to which letter it reaches."""


def learn(counts: Counts, room: int) -> Learnt:
    """At most `room` pieces and the merges that make them; every character of the alphabet is a piece, too."""
    code = Code(tuple(alphabet(counts, int(room * ALPHABET))))
    return kept(both(code.letters), merges_of(counts, code.write, code, room), room)


def merges_of(counts: Counts, write: Callable[[str], str], code: Code, room: int) -> list[tuple[str, str]]:
    """The merges that the library learns, most frequent first; `write` puts gaps where nothing may be merged."""
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=room, min_frequency=2, show_progress=False)
    library.train_from_iterator(coded_text(counts, write), trainer)
    merges = json.loads(library.to_str())["model"]["merges"]
    return [(code.read(left), code.read(right)) for left, right in merges]


def kept(letters: Iterable[str], merges: Iterable[tuple[str, str]], room: int) -> Learnt:
    """The letters, and as many merged pieces as there is room for."""
    known, used = dict.fromkeys(letters), []
    for left, right in merges:
        made = joined(left, right)
        if len(known) < room and made and left in known and right in known:
            used.append((left, right))
            known[made] = None
    return Learnt(tuple(known), tuple(used))


@dataclass(frozen=True)
class Merger:
    """Cuts a word by its merges, the earliest learnt first; `runs` says which letters may meet at all."""

    learnt: Learnt
    code: Code
    runs: Callable[[str], list[Run]]

    @cached_property
    def _model(self) -> models.BPE:
        numbers = {self.code.piece(piece): number for piece, number in self.learnt.numbers.items()}
        merges = [(self.code.piece(left), self.code.piece(right)) for left, right in self.learnt.merges]
        unknown = SPECIAL_TOKENS[UNKNOWN]
        return models.BPE(vocab={**numbers, unknown: UNKNOWN}, merges=merges, unk_token=unknown)

    def __call__(self, word: str) -> list[Piece]:
        """The pieces of a word; every letter outside the alphabet is one unknown piece."""
        found = []
        for index, (letters, places) in enumerate(self.runs(word)):
            at = 0
            for token in self._model.tokenize(self.code.write(letters, first=index == 0)):
                end = at + (1 if token.id == UNKNOWN else len(token.value))
                found.append((token.id, places[at][0], places[end - 1][1]))
                at = end
        return found

    def spell(self, word: str) -> list[list[Symbol]]:
        """The single letters of a word, run by run, before anything is merged."""
        return [
            [(sign, *place) for sign, place in zip(self.code.write(letters, index == 0), places, strict=True)]
            for index, (letters, places) in enumerate(self.runs(word))
        ]

    def name(self, coded: str) -> str:
        """The piece of the vocabulary that a symbol stands for."""
        return SPECIAL_TOKENS[UNKNOWN] if coded == " " else self.code.read(coded)

    @cached_property
    def _ranks(self) -> dict[tuple[str, str], int]:
        pairs = ((self.code.piece(left), self.code.piece(right)) for left, right in self.learnt.merges)
        return {pair: rank for rank, pair in enumerate(pairs)}

    def next_merge(self, symbols: Sequence[Symbol]) -> tuple[int, int] | None:
        """The earliest learnt merge that fits somewhere, and the leftmost place where it fits."""
        ranks = ((self._ranks.get((a[0], b[0])), k) for k, (a, b) in enumerate(pairwise(symbols)))
        return min(((rank, k) for rank, k in ranks if rank is not None), default=None)


def letters_as_they_are(word: str) -> list[Run]:
    """The whole word as one run."""
    return [(word, [(k, k + 1) for k in range(len(word))])]


def cutter(learnt: Learnt) -> Merger:
    """The way to cut words by these merges."""
    return Merger(learnt, code_of(learnt.pieces), letters_as_they_are)


def merge_everywhere(merger: Merger, runs: Sequence[list[Symbol]]) -> tuple[list[list[Symbol]], int] | None:
    """One merge carried out in every run where it is the next one, and its rank; none when nothing is left to merge."""
    waiting = [merger.next_merge(run) for run in runs]
    rank = min((found[0] for found in waiting if found), default=None)
    if rank is None:
        return None
    return [
        _merged(merger, run, rank) if f and f[0] == rank else run for run, f in zip(runs, waiting, strict=True)
    ], rank


def _merged(merger: Merger, symbols: list[Symbol], rank: int) -> list[Symbol]:
    while (found := merger.next_merge(symbols)) and found[0] == rank:
        k = found[1]
        (left, first, _), (right, _, last) = symbols[k : k + 2]
        symbols = [*symbols[:k], (left + right, first, last), *symbols[k + 2 :]]
    return symbols
