"""Tokenizers: text to ids and back, by words, characters or learnt pieces of words."""

from playground.tokenizing.kinds import KINDS
from playground.tokenizing.steps import merge_steps
from playground.tokenizing.text_input import TextInput, read_input
from playground.tokenizing.tokenizer import Encoding, Tokenizer, of_words, train
from playground.tokenizing.vocabulary import SPECIAL_TOKENS, specials

__all__ = [
    "KINDS",
    "SPECIAL_TOKENS",
    "Encoding",
    "TextInput",
    "Tokenizer",
    "merge_steps",
    "of_words",
    "read_input",
    "specials",
    "train",
]
