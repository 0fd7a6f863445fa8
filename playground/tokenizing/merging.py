"""BPE: pieces of words from merging the most frequent pair again and again (arXiv:1508.07909, sec. 3.2)."""

import json
from collections.abc import Callable, Iterable

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from playground.tokenizing.pieces import Code, Counts, Learnt, alphabet, both, coded_text, joined


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
