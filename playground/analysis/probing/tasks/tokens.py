"""Token labelling: a class for each word (Liu et al. 2019, arXiv:1903.08855)."""

from functools import partial

import torch

from playground.analysis.probing.items import Texts, items_of
from playground.analysis.probing.task import Made, ProbingTask, homographs, token_items
from playground.analysis.probing.texts import labelled

LABELLING = "token labelling, arXiv:1903.08855"
OF_GRAMMAR = "labels of our grammar, or of a treebank that was read in"

token_task = partial(ProbingTask, source=LABELLING, unit="token")


def _words(name: str, texts: Texts, seed: int) -> Made:
    return texts, token_items(texts, name)


def _homographs(texts: Texts, seed: int) -> Made:
    return texts, homographs(token_items(texts, "pos"))


def _segments(texts: Texts, seed: int) -> Made:
    """Whether a phrase begins at a word, goes on there or is not there (BIO), by the type of the phrase."""
    phrase, kind = labelled(texts, "phrase"), labelled(texts, "phrase_type")
    before = torch.cat([torch.full_like(phrase[:, :1], -1), phrase[:, :-1]], dim=1)
    inside = (phrase >= 0) & (phrase == before)
    label = torch.where(phrase >= 0, 1 + 2 * kind + inside.long(), 0)
    names = ("O", *(f"{mark}-{name}" for name in texts.names["phrase_type"] for mark in "BI"))
    rows, positions = texts.tokens.maskable.nonzero(as_tuple=True)
    return texts, items_of(rows, positions, label[rows, positions], texts.tokens.ids[rows, positions], names)


def _heads(texts: Texts, seed: int) -> Made:
    """The coarse direction and distance of a word's head."""
    head = labelled(texts, "head")
    rows, positions = (labelled(texts, "relation") >= 0).nonzero(as_tuple=True)
    step = (head[rows, positions] - positions).clamp(-2, 2)
    label = torch.where(head[rows, positions] < 0, 4, torch.tensor([0, 1, -1, 2, 3])[step + 2])
    names = ("left, further", "left, next", "right, next", "right, further", "root")
    return texts, items_of(rows, positions, label, texts.tokens.ids[rows, positions], names)


PART_OF_SPEECH = token_task(
    name="part of speech",
    question="Which part of speech is this word?",
    make=partial(_words, "pos"),
    unlike_paper=OF_GRAMMAR,
)

HOMOGRAPHS = token_task(
    name="part of speech of homographs",
    question="Which part of speech is this word here, where it can have several?",
    make=_homographs,
    unlike_paper=f"only words with several parts of speech, since for all others the word alone decides; {OF_GRAMMAR}",
    rare=True,
)

SENSE = token_task(
    name="sense",
    question="Which meaning does this ambiguous word have here?",
    source="ELMo, arXiv:1802.05365, sec. 5.3",
    make=partial(_words, "sense"),
    unlike_paper="a linear probe, not the nearest of the mean vectors of the senses",
    rare=True,
)

ROLE = token_task(
    name="role",
    question="Is this word part of the agent, the action, the patient, or of a place?",
    source="semantic roles, arXiv:1905.06316",
    make=partial(_words, "role"),
    unlike_paper="each word of an argument by itself, not the argument as one span",
)

ENTITY_TYPE = token_task(
    name="entity type",
    question="Does this name belong to a person, a town, a country or a language?",
    source="named entities, arXiv:1905.06316",
    make=partial(_words, "entity_type"),
    unlike_paper=OF_GRAMMAR,
    rare=True,
)

SUPERSENSE = token_task(
    name="supersense",
    question="Which broad category of noun or verb is this word: a person, food, motion, ...?",
    make=partial(_words, "supersense"),
    unlike_paper=OF_GRAMMAR,
)

NUMBER = token_task(
    name="number",
    question="Is this noun or verb singular or plural?",
    make=partial(_words, "number"),
    unlike_paper=OF_GRAMMAR,
)

SEGMENTS = token_task(
    name="phrase boundaries",
    question="Does a phrase begin or continue at this word, or is there none (BIO)?",
    source="segmentation, arXiv:1903.08855",
    make=_segments,
    unlike_paper="phrases of our grammar are not nested",
)

HEAD_DIRECTION = token_task(
    name="head direction",
    question="Is the head of this word next to it or further away, to the left or to the right?",
    source="after arXiv:1903.08855",
    make=_heads,
)
