"""BPE: pieces of words from merging the most frequent pair again and again (arXiv:1508.07909, sec. 3.2)."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from playground.tokenizing.pieces import Code, Counts, Learnt, Piece, alphabet, both, code_of, coded_text, joined
from playground.tokenizing.vocabulary import SPECIAL_TOKENS, UNKNOWN

Run = tuple[str, list[tuple[int, int]]]
"""Letters that may be merged with each other, and the span of each in the word."""

Symbol = tuple[str, int, int]
"""A piece in private characters, and its first letter and the one after its last."""


def learn(counts: Counts, room: int) -> Learnt:
    """At most `room` pieces and the merges that make them; every character of the alphabet is a piece, too."""
    code = Code(tuple(alphabet(counts, room)))
    return within_room(both(code.letters), train_merges(counts, code.write, code, room), room)


def train_merges(counts: Counts, write: Callable[[str], str], code: Code, room: int) -> list[tuple[str, str]]:
    """The merges that the library learns, most frequent first; `write` puts spaces where nothing may be merged."""
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=room, min_frequency=2, show_progress=False)
    library.train_from_iterator(coded_text(counts, write), trainer)
    merges = json.loads(library.to_str())["model"]["merges"]
    return [(code.read(left), code.read(right)) for left, right in merges]


def within_room(letters: Iterable[str], merges: Iterable[tuple[str, str]], room: int) -> Learnt:
    """The letters, and as many merged pieces as there is room for."""
    known, used = dict.fromkeys(letters), []
    for left, right in merges:
        piece = joined(left, right)
        if len(known) < room and piece and left in known and right in known:
            used.append((left, right))
            known[piece] = None
    return Learnt(tuple(known), tuple(used))


@dataclass(frozen=True)
class Merger:
    """Splits a word by its merges, the earliest learnt first; `runs` gives the letters that may be merged at all."""

    learnt: Learnt
    code: Code
    runs: Callable[[str], list[Run]]

    @cached_property
    def _merges(self) -> list[tuple[str, str]]:
        return [(self.code.piece(left), self.code.piece(right)) for left, right in self.learnt.merges]

    @cached_property
    def _model(self) -> models.BPE:
        numbers = {self.code.piece(piece): number for piece, number in self.learnt.numbers.items()}
        unknown = SPECIAL_TOKENS[UNKNOWN]
        return models.BPE(vocab={**numbers, unknown: UNKNOWN}, merges=self._merges, unk_token=unknown)

    @cached_property
    def _ranks(self) -> dict[tuple[str, str], int]:
        return {pair: rank for rank, pair in enumerate(self._merges)}

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
            [(symbol, *place) for symbol, place in zip(self.code.write(letters, index == 0), places, strict=True)]
            for index, (letters, places) in enumerate(self.runs(word))
        ]

    def name(self, coded: str) -> str:
        """The piece of the vocabulary that a symbol stands for."""
        return SPECIAL_TOKENS[UNKNOWN] if coded == " " else self.code.read(coded)

    def next_merge(self, symbols: Sequence[Symbol]) -> tuple[int, int] | None:
        """The rank of the earliest learnt merge that is possible, and the leftmost place where it is."""
        ranks = ((self._ranks.get((a[0], b[0])), k) for k, (a, b) in enumerate(pairwise(symbols)))
        return min(((rank, k) for rank, k in ranks if rank is not None), default=None)

    def merged(self, symbols: list[Symbol], rank: int) -> list[Symbol]:
        """The symbols after one merge, wherever it is the next one."""
        while (found := self.next_merge(symbols)) and found[0] == rank:
            k = found[1]
            (left, first, _), (right, _, last) = symbols[k : k + 2]
            symbols = [*symbols[:k], (left + right, first, last), *symbols[k + 2 :]]
        return symbols


def cutter(learnt: Learnt) -> Merger:
    """The splitter by these merges, with the whole word as one run."""
    return Merger(learnt, code_of(learnt.pieces), lambda word: [(word, [(k, k + 1) for k in range(len(word))])])
