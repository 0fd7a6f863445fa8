"""Unigram: pieces with probabilities; a word is split the most probable way (Kudo 2018, arXiv:1804.10959, sec. 3.2)."""

from tokenizers import models, trainers
from tokenizers.pre_tokenizers import WhitespaceSplit

from playground.tokenizing.pieces import Counts, Learnt, LetterCode, alphabet, both, continues, train_library

STEP = 1e-4
"""The difference that the library puts between scores of needless letters, in an order that varies from run to run."""

DIGITS = 5
"""Digits of a score that are kept: sums of many threads differ in the last ones."""


def learn(counts: Counts, room: int) -> Learnt:
    """At most `room` pieces, the most probable first, with the logarithms of their probabilities."""
    code = LetterCode(tuple(alphabet(counts, room)))
    letters = both(code.letters)
    found = _scores(counts, code, room)
    lowest = min(found.values(), default=0.0)
    level = {p: s if s > lowest + STEP * len(letters) else lowest for p, s in found.items()}
    base = {letter: level.get(letter, lowest) for letter in letters}
    longer = sorted((-round(score, DIGITS), piece) for piece, score in level.items() if piece not in base)
    scores = base | {piece: -score for score, piece in longer[: max(0, room - len(base))]}
    order = sorted(scores, key=lambda piece: (-round(scores[piece], DIGITS), piece))
    return Learnt(tuple(order), scores=tuple(round(scores[piece], DIGITS) for piece in order))


def _scores(counts: Counts, code: LetterCode, room: int) -> dict[str, float]:
    """The scores that the library learns, without pieces that would look like later ones."""
    trainer = trainers.UnigramTrainer(vocab_size=room, show_progress=False)
    model = train_library(models.Unigram(), trainer, WhitespaceSplit(), counts, code.write)
    found = [(coded, code.read(coded), score) for coded, score in model["vocab"]]
    return {piece: score for coded, piece, score in found if continues(piece) == continues(code.read(coded[0]))}
