"""Byte-level BPE: 256 bytes instead of an alphabet, so nothing is unknown (Radford et al. 2019, GPT-2, sec. 2.2).

As in GPT-2's released code a visible letter stands for each byte, and the space before a word, "Ġ", is a part of it.
"""

from tokenizers import Regex, models, trainers
from tokenizers.pre_tokenizers import ByteLevel, PreTokenizer, Sequence, Split

from playground.tokenizing.pieces import Counts, Learnt, train_library
from playground.tokenizing.words import CLOSING

TO_SPACE = "Ġ"
"""The letter for a space."""


def splitter(across: bool) -> PreTokenizer:
    """What is never merged: letters, digits and punctuation marks, or with `across` only what spaces part."""
    if across:
        return Sequence([Split(Regex(r"\s?\S+"), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)])
    return ByteLevel(add_prefix_space=False)


def learn(counts: Counts, room: int, across: bool = False) -> Learnt:
    """All bytes and the most frequent merges; a word stands behind a space, a closing mark behind none."""
    trainer = trainers.BpeTrainer(
        vocab_size=room, min_frequency=2, show_progress=False, initial_alphabet=ByteLevel.alphabet()
    )
    model = train_library(
        models.BPE(), trainer, splitter(across), counts, lambda word: word if word in CLOSING else f" {word}"
    )
    return Learnt(tuple(model["vocab"]), tuple((left, right) for left, right in model["merges"]))


_VISIBLE = (*range(33, 127), *range(161, 173), *range(174, 256))
_OTHERS = (byte for byte in range(256) if byte not in _VISIBLE)
LETTERS = {byte: chr(byte) for byte in _VISIBLE} | {byte: chr(256 + k) for k, byte in enumerate(_OTHERS)}
_BYTES = {letter: byte for byte, letter in LETTERS.items()}


def write(text: str) -> str:
    """The letters for the bytes of a text."""
    return "".join(LETTERS[byte] for byte in text.encode("utf-8"))


def show(letters: str) -> str:
    """Letters for bytes as text; a byte that is no whole visible character by its number: ⟨E2⟩."""
    if not _BYTES.keys() >= set(letters):
        return letters  # the name of an added token
    text = bytes(_BYTES[letter] for letter in letters).decode("utf-8", "surrogateescape")
    numbered = ("".join(f"⟨{byte:02X}⟩" for byte in c.encode("utf-8", "surrogateescape")) for c in text)
    return "".join(c if c.isprintable() and c not in " ⟨" else number for c, number in zip(text, numbered, strict=True))
