"""What probing tasks read of sentences: their labels, roots and depths."""

import torch
from torch import Tensor

from playground.analysis.probing.items import Texts
from playground.batch import Tokens
from playground.corpora import pick
from playground.errors import UserError


def first_rows(tokens: Tokens) -> Tensor:
    """The first of all rows with the same words."""
    first: dict[tuple[int, ...], int] = {}
    for row, words in enumerate(tokens.ids.tolist()):
        first.setdefault(tuple(words), row)
    return torch.tensor(list(first.values()), dtype=torch.long)


def different(tokens: Tokens) -> Tokens:
    """The rows with different words: a text on both sides of a split would be known by heart."""
    return pick(tokens, first_rows(tokens))


def labelled(texts: Texts, name: str) -> Tensor:
    """A label `[r, t]` of the texts, -1 where a token has none; refuses one that the corpus does not have."""
    labels = texts.tokens.labels
    if name not in labels or not bool((labels[name] >= 0).any()):
        have = ", ".join(sorted(k for k, row in labels.items() if bool((row >= 0).any()))) or "none"
        raise UserError(f"These sentences have no label {name!r}, which this probe reads; they have: {have}.")
    return labels[name]


def roots(texts: Texts) -> Tensor:
    """The position of the root of each sentence's tree, `[r]`; the first root where there are several."""
    relation = labelled(texts, "relation")
    return (relation == texts.names["relation"].index("root")).long().argmax(1)


def depths(heads: Tensor) -> Tensor:
    """The number of arcs from each word to the root of its tree, `[r, t]`; 0 for roots and outside all trees."""
    depth, above = torch.zeros_like(heads), heads
    while bool((above >= 0).any()):
        depth = depth + (above >= 0)
        above = heads.gather(1, above.clamp(min=0)).where(above >= 0, -1)
    return depth
