"""Text to ids and back: words, or pieces of words where a vocabulary of words would be too long."""

from playground.tokenizing.tokenizer import Encoding, Tokenizer, of_words, train
from playground.tokenizing.typed import Typed, typed
from playground.tokenizing.vocabulary import SPECIAL_TOKENS, specials

__all__ = ["SPECIAL_TOKENS", "Encoding", "Tokenizer", "Typed", "of_words", "specials", "train", "typed"]
