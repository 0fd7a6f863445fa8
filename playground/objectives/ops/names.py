"""Names of special tokens on screen."""

from collections.abc import Mapping
from dataclasses import replace

from playground.batch import Tokens


def with_names(tokens: Tokens, names: Mapping[int, str]) -> Tokens:
    """The text with some ids under other names, where a vocabulary is shown."""
    if not tokens.vocabulary:
        return tokens
    return replace(tokens, vocabulary=tuple(names.get(k, word) for k, word in enumerate(tokens.vocabulary)))
