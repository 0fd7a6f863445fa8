"""Byte-pair encoding that may merge across categories of characters wastes entries on copies of a word with its
punctuation; GPT-2 forbids these merges."""

from playground.claims import Arm, Claim, Lab, equal, higher
from playground.tokenizing.tokenizer import train
from playground.tokenizing.words import join_words

PIECES, WORDS = 1000, 200_000
"""Entries of the vocabulary, and words of the text from which it is learned."""


def copies(lab: Lab, arm: Arm, _seed: int) -> float:
    """How many entries are another entry with punctuation behind it, such as "dog." beside "dog"."""
    corpus = lab.corpus(arm)
    ids = corpus.ids[:WORDS]
    text = join_words([corpus.tokenizer.words[k] for k in ids[corpus.tokenizer.specials.in_text(ids)].tolist()])
    entries = set(train([text], "bytes", PIECES, across=arm.figure == "merged freely").words)
    return sum(entry.rstrip(".,!?") in entries - {entry} for entry in entries)


K035 = Claim(
    title="dog, dog. and dog!",
    source="Weng, GPT-2; Radford et al. 2019, sec. 2.2",
    prediction="Of 1,000 entries at least 20 are another entry followed by punctuation if merges are free, and "
    "none if merges across categories are forbidden.",
    otherwise="Free merges make no such copies, or they stay.",
    common=Arm(corpus="everyday", steps=0),
    arms={name: {"figure": name} for name in ("merged freely", "within categories")},
    rules=(higher("merged freely", 20.0, by=0.0, exact=True), equal("within categories", 0.0)),
    compute=copies,
    unit="entries",
    scale="Learned from 200,000 words of a generated text with few punctuation marks; no part of it is random. A text "
    "from the web has far more marks, and so more copies.",
    seeds=1,
)
