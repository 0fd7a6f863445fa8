"""BPE: pieces of words from merging the most frequent pair again and again (arXiv:1508.07909, sec. 3.2)."""

import json

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from playground.tokenizing.pieces import Code, Counts, Learnt, alphabet, both, coded_text, joined


def learn(counts: Counts, room: int) -> Learnt:
    """At most `room` pieces and the merges that make them; every character of the alphabet is a piece, too."""
    code = Code(tuple(alphabet(counts, room)))
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=room, min_frequency=2, show_progress=False)
    library.train_from_iterator(coded_text(counts, code.write), trainer)
    known, used = dict.fromkeys(both(code.letters)), []
    for merge in json.loads(library.to_str())["model"]["merges"]:
        left, right = map(code.read, merge)
        piece = joined(left, right)
        if len(known) < room and piece and left in known and right in known:
            used.append((left, right))
            known[piece] = None
    return Learnt(tuple(known), tuple(used))
