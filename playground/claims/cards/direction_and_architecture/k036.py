"""Byte-pair encoding splits rare words into subwords and keeps frequent words whole."""

from playground.claims import Arm, Claim, Lab, alike, higher
from playground.tokenizing.tokenizer import of_counts

PIECES = 600
"""Entries of the vocabulary of pieces; the text has twice as many words."""


def pieces(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean number of pieces in a tenth of the words, the most frequent or the rarest ones."""
    corpus = lab.corpus(arm)
    counts = corpus.ids[: corpus.held_out_from].bincount(minlength=len(corpus.tokenizer)).tolist()
    words = corpus.tokenizer.specials.words.tolist()
    known = {corpus.tokenizer.words[k]: counts[k] for k in words if counts[k]}
    bpe, order = of_counts(known, "bpe", PIECES), sorted(known, key=lambda word: -known[word])
    tenth = len(order) // 10
    chosen = order[:tenth] if arm.figure == "most frequent tenth" else order[-tenth:]
    return sum(len(bpe.encode_word(word)) for word in chosen) / tenth


K036 = Claim(
    title="BPE splits rare words",
    source="Weng, Byte Pair Encoding; arXiv:1508.07909, sec. 3.2",
    prediction="The most frequent tenth of the words have about one piece each, the rarest tenth at least one more.",
    otherwise="Rare words have about as many pieces as frequent ones.",
    common=Arm(corpus="world", steps=0),
    arms={name: {"figure": name} for name in ("most frequent tenth", "rarest tenth")},
    rules=(
        alike("most frequent tenth", 1.0, within=0.1, exact=True),
        higher("rarest tenth", "most frequent tenth", by=1.0, exact=True),
    ),
    compute=pieces,
    unit="pieces a word",
    scale="A vocabulary of 600 pieces, learned from about 1,300 words of a generated text; no part of it is random. "
    "Real vocabularies have 30,000 pieces for far more words.",
    seeds=1,
)
