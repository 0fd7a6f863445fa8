"""Pairs of words: is there an arc between them, and of which kind (Liu et al. 2019; Tenney et al. 2019)?"""

import torch
from torch import Tensor

from playground.analysis.probing.items import Items, Texts, items_of
from playground.analysis.probing.task import Made, ProbingTask
from playground.analysis.probing.texts import labelled
from playground.errors import UserError
from playground.rng import generator


def pairs_of(texts: Texts, rows: Tensor, positions: Tensor, labels: Tensor, names: tuple[str, ...]) -> Items:
    """Items of two words each; the type of an item is the pair of words in this order."""
    one, other = texts.tokens.ids[rows[:, None], positions].unbind(1)
    return items_of(rows, positions, labels, one * texts.tokens.specials.size + other, names)


def _arcs(texts: Texts) -> tuple[Tensor, Tensor, Tensor]:
    """Row, word and head of every arc that has both ends."""
    head = labelled(texts, "head")
    rows, words = (head >= 0).nonzero(as_tuple=True)
    return rows, words, head[rows, words]


def _arc(texts: Texts, seed: int) -> Made:
    """Each word with its head, and with another word of its sentence that is not."""
    rows, words, heads = _arcs(texts)
    lengths = texts.tokens.lengths[rows]
    wide = lengths > 2
    rows, words, heads, lengths = rows[wide], words[wide], heads[wide], lengths[wide]
    low, high = torch.minimum(words, heads), torch.maximum(words, heads)
    draw = (torch.rand(len(rows), generator=generator(seed, "arc probe")) * (lengths - 2)).long()
    other = draw + (draw >= low)
    other = other + (other >= high)
    positions = torch.cat([torch.stack([words, heads], 1), torch.stack([words, other], 1)])
    labels = torch.cat([torch.ones_like(words), torch.zeros_like(words)])
    return texts, pairs_of(texts, rows.repeat(2), positions, labels, ("another word", "its head"))


def _relation(texts: Texts, seed: int) -> Made:
    rows, words, heads = _arcs(texts)
    labels = labelled(texts, "relation")[rows, words]
    return texts, pairs_of(texts, rows, torch.stack([words, heads], 1), labels, texts.names["relation"])


def _conjuncts(texts: Texts, seed: int) -> Made:
    """Two words of one part of speech in a sentence that has conjuncts: are these two the conjuncts?"""
    head, relation, pos = (labelled(texts, name) for name in ("head", "relation", "pos"))
    conjunct = (relation == texts.names["relation"].index("conj")) & (head >= 0)
    if not bool(conjunct.any()):
        raise UserError("No two words of these sentences are joined by 'and' or a comma, so there are no conjuncts.")
    joined = torch.zeros(*head.shape, head.shape[1], dtype=torch.bool)
    rows, words = conjunct.nonzero(as_tuple=True)
    joined[rows, head[rows, words], words] = True
    same = (pos[:, :, None] == pos[:, None, :]) & (pos >= 0)[:, :, None] & conjunct.any(1)[:, None, None]
    rows, one, other = same.triu(1).nonzero(as_tuple=True)
    labels = joined[rows, one, other].long()
    return texts, pairs_of(texts, rows, torch.stack([one, other], 1), labels, ("not joined", "conjuncts"))


ARC = ProbingTask(
    name="arc",
    question="Is the second word the head of the first?",
    source="syntactic arcs, arXiv:1903.08855",
    unit="pair",
    make=_arc,
    unlike_paper="the concatenated states of both words; the paper adds their product",
)

RELATION = ProbingTask(
    name="dependency relation",
    question="What is this word to its head: subject, object, determiner, ...?",
    source="edge probing, arXiv:1905.06316",
    unit="pair",
    make=_relation,
    unlike_paper="linear, on the states of the two words; no pooling over spans",
)

CONJUNCTS = ProbingTask(
    name="conjuncts",
    question="Are these two words of one part of speech joined by 'and' or a comma?",
    source="conjunct identification, arXiv:1903.08855",
    unit="pair",
    make=_conjuncts,
    unlike_paper="yes or no of a pair; the paper marks the conjuncts of a conjunction word by word",
)
