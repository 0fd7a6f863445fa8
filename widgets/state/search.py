"""A search by words, as a person types it."""

import unicodedata

from playground.catalog import STEM


def begins(text: str, search: str) -> bool:
    """Whether every word of a search begins a word of a text."""
    words = _folded(text)
    return all(any(_answers(word, sought) for word in words) for sought in _folded(search))


def _answers(word: str, sought: str) -> bool:
    """As in `lists/listbox.js`: a long word also answers its longer forms, as "model" answers "modelling"."""
    return word.startswith(sought) or (len(word) >= STEM and sought.startswith(word))


def _folded(text: str) -> list[str]:
    """The words of a text without case, accents and marks."""
    plain = (c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return "".join(c if c.isalnum() else " " for c in plain).split()
