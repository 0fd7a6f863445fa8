"""BPE: pieces of words from merging the most frequent pair again and again (arXiv:1508.07909, sec. 3.2)."""

from tokenizers import models, trainers
from tokenizers.pre_tokenizers import WhitespaceSplit

from playground.tokenizing.pieces import Counts, Learnt, LetterCode, alphabet, both, joined, train_library


def learn(counts: Counts, room: int) -> Learnt:
    """At most `room` pieces and the merges that make them; every character of the alphabet is a piece, too."""
    code = LetterCode(tuple(alphabet(counts, room)))
    trainer = trainers.BpeTrainer(vocab_size=room, min_frequency=2, show_progress=False)
    model = train_library(models.BPE(), trainer, WhitespaceSplit(), counts, code.write)
    known, used = dict.fromkeys(both(code.letters)), []
    for merge in model["merges"]:
        left, right = map(code.read, merge)
        piece = joined(left, right)
        if len(known) < room and piece and left in known and right in known:
            used.append((left, right))
            known[piece] = None
    return Learnt(tuple(known), tuple(used))
