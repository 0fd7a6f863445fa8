"""A tokenizer as JSON: made of a tokenizer.json, saved with a run, read again."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from playground.batch import Specials
from playground.errors import UserError
from playground.parsing import parse_json
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.vocabulary import specials


def of_settings(settings: Mapping[str, Any], roles: Specials) -> Tokenizer:
    """The tokenizer of a tokenizer.json, which the library must take and whose ids must be below the size."""
    made = Tokenizer(json.dumps(settings, ensure_ascii=False), roles)
    vocab = made.library.get_vocab(with_added_tokens=True)
    if highest := [name for name, number in vocab.items() if number >= roles.size]:
        raise UserError(f"The tokenizer gives {highest[0]!r} the id {vocab[highest[0]]}; there are {roles.size} rows.")
    return made


def with_words(tokenizer: Tokenizer, words: Iterable[str]) -> Tokenizer:
    """The same vocabulary of whole words, and after it those words that it lacks."""
    model = tokenizer.settings["model"]
    new = (word for word in dict.fromkeys(words) if word not in model["vocab"])
    vocab = model["vocab"] | {word: number for number, word in enumerate(new, len(tokenizer))}
    return of_settings({**tokenizer.settings, "model": {**model, "vocab": vocab}}, specials(len(vocab)))


def to_json(tokenizer: Tokenizer) -> str:
    """The tokenizer as JSON, to be saved with a run."""
    return json.dumps({"tokenizer": tokenizer.settings, "specials": asdict(tokenizer.specials)}, ensure_ascii=False)


def from_json(text: str) -> Tokenizer:
    """A tokenizer that was saved with `to_json`."""
    try:
        saved = parse_json(text)
        known = saved["specials"]
        numbers = [*known["ids"], *known["roles"].values(), *known["sentinels"]]
        if not all(type(number) is int and 0 <= number < known["size"] for number in numbers):
            raise ValueError(numbers)
        roles = {str(role): number for role, number in known["roles"].items()}
        made = Specials(known["size"], tuple(known["ids"]), roles, tuple(known["sentinels"]))
        return of_settings(saved["tokenizer"], made)
    except (ValueError, KeyError, TypeError, AttributeError, UserError) as error:
        raise UserError(f"This is not a saved tokenizer: {text[:40]!r}; it must be what to_json() wrote.") from error
