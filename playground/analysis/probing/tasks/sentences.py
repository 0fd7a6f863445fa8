"""The ten sentence probes of Conneau et al. (2018, arXiv:1805.01070), on the mean of the states of a sentence.

The control task of a sentence gives a random class to each word at the root of a tree, where there are trees, else to
each first word: the paper has none.
"""

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import groupby

import torch
from torch import Tensor

from playground.analysis.probing.items import Items, Texts, items_of
from playground.analysis.probing.task import Made, ProbingTask
from playground.analysis.probing.texts import depths, labelled, roots
from playground.errors import UserError
from playground.rng import generator

SOURCE = "SentEval probing, arXiv:1805.01070, sec. 2"

sentence_task = partial(ProbingTask, source=SOURCE, unit="sentence")
BINS, CONTENT_WORDS, ORDERS = 6, 20, 12
"""Bins of lengths, words that are asked for, and orders of phrases that are distinguished."""


def sentence_items(texts: Texts, labels: Tensor, names: tuple[str, ...]) -> Items:
    """One item a sentence, read at the mean over its words."""
    rows = torch.arange(len(labels))
    first = roots(texts) if "relation" in texts.tokens.labels else torch.zeros_like(rows)
    return items_of(rows, torch.full_like(rows, -1), labels, texts.tokens.ids[rows, first], names)


def _binned(values: Tensor) -> tuple[Tensor, tuple[str, ...]]:
    """Numbers in up to six bins that hold about equally many."""
    edges = values.double().quantile(torch.arange(1, BINS).double() / BINS).unique()
    labels = torch.bucketize(values.double(), edges)
    return labels, tuple(f"{int(values[labels == k].min())} to {int(values[labels == k].max())}"
                         if bool((labels == k).any()) else "none" for k in range(len(edges) + 1))  # fmt: skip


def _length(texts: Texts, seed: int) -> Made:
    return texts, sentence_items(texts, *_binned(texts.tokens.lengths))


def _depth(texts: Texts, seed: int) -> Made:
    labelled(texts, "relation")
    deepest = depths(labelled(texts, "head")).amax(1)
    names = tuple(map(str, range(int(deepest.max()) + 1)))
    return texts, sentence_items(texts, deepest, names)


def _content(texts: Texts, seed: int) -> Made:
    """Which one of twenty content words of middling frequency stands in the sentence."""
    pos = labelled(texts, "pos")
    content = torch.isin(pos, torch.tensor([texts.names["pos"].index(name) for name in ("NOUN", "VERB", "ADJ")]))
    counts = torch.bincount(texts.tokens.ids[content], minlength=texts.tokens.specials.size)
    ranked = counts.argsort(descending=True, stable=True)[: int((counts > 0).sum())]
    chosen = ranked[len(ranked) // 10 :][:CONTENT_WORDS]
    holds = (texts.tokens.ids[:, :, None] == chosen).any(1)
    labels = torch.where(holds.sum(1) == 1, holds.long().argmax(1), -1)
    return texts, sentence_items(texts, labels, tuple(texts.tokens.vocabulary[k] for k in chosen.tolist()))


def _order(texts: Texts, seed: int) -> Made:
    """The sequence of phrases of a sentence, one of the most frequent ones."""
    phrase, kind = labelled(texts, "phrase"), labelled(texts, "phrase_type")
    names = texts.names["phrase_type"]
    orders = [
        " ".join(names[k] for (number, k), _ in groupby(zip(*row, strict=True)) if number >= 0)
        for row in zip(phrase.tolist(), kind.tolist(), strict=True)
    ]
    most = [order for order, _ in Counter(orders).most_common(ORDERS)]
    labels = torch.tensor([most.index(order) if order in most else -1 for order in orders])
    return texts, sentence_items(texts, labels, tuple(order or "no phrase" for order in most))


def with_ids(texts: Texts, ids: Tensor) -> Texts:
    """The same texts with other words; their labels are those of the texts as they were."""
    return replace(texts, tokens=replace(texts.tokens, ids=ids))


def _half(count: int, seed: int, why: str) -> Tensor:
    """A random half of the rows, `[r]`."""
    half = torch.zeros(count, dtype=torch.bool)
    half[torch.randperm(count, generator=generator(seed, why))[: count // 2]] = True
    return half


def _shift(texts: Texts, seed: int) -> Made:
    """Two neighbouring words are exchanged in half of the sentences; the full stop stays at the end."""
    ids, count = texts.tokens.ids.clone(), len(texts.tokens.ids)
    changed = _half(count, seed, "bigram shift") & (texts.tokens.lengths > 3)
    draw = torch.rand(count, generator=generator(seed, "bigram shift", "place"))
    position = (draw * (texts.tokens.lengths - 2)).long()
    rows = changed.nonzero()  # [k, 1]
    both = position[rows] + torch.tensor([0, 1])  # [k, 2]
    pair = ids[rows, both]
    ids[rows, both] = pair.flip(1)
    changed[rows[:, 0]] = pair[:, 0] != pair[:, 1]  # a word that stands twice in a row stays as it was
    return with_ids(texts, ids), sentence_items(texts, changed.long(), ("as it was", "two words exchanged"))


def _tense(texts: Texts, seed: int) -> Made:
    """The tense of the verb of the main clause: the root, or the auxiliary or copula at it."""
    return texts, sentence_items(texts, _of_verb(texts, labelled(texts, "tense")), texts.names["tense"])


def _of_verb(texts: Texts, label: Tensor) -> Tensor:
    """A label of each sentence's root, else of the first word with one that hangs on the root, `[r]`."""
    root, rows = roots(texts), torch.arange(len(label))
    below = (labelled(texts, "head") == root[:, None]) & (label >= 0)
    position = below.long().argmax(1)
    hung = label[rows, position].where(below.any(1), -1)
    return label[rows, root].where(label[rows, root] >= 0, hung)


def _number(relations: tuple[str, ...], texts: Texts, seed: int) -> Made:
    """The number of the first word in one of these relations to the root."""
    relation, number = labelled(texts, "relation"), labelled(texts, "number")
    numbers = [texts.names["relation"].index(name) for name in relations if name in texts.names["relation"]]
    below = torch.isin(relation, torch.tensor(numbers)) & (labelled(texts, "head") == roots(texts)[:, None])
    first = below.long().argmax(1)
    labels = number[torch.arange(len(first)), first].where(below.any(1), -1)
    return texts, sentence_items(texts, labels, texts.names["number"])


def _odd(texts: Texts, seed: int) -> Made:
    """In half of the sentences a noun or a verb is another one of its part of speech, number and tense.

    A sentence that is made is none of the others, for which both answers would be right.
    """
    ids, count = texts.tokens.ids.clone(), len(texts.tokens.ids)
    pos, names = labelled(texts, "pos"), texts.names["pos"]
    open_class = torch.isin(pos, torch.tensor([names.index("NOUN"), names.index("VERB")]))
    form = pos * 16
    for name, step in (("number", 4), ("tense", 1)):
        form = form + step * (1 + texts.tokens.labels.get(name, torch.full_like(pos, -1)))
    changed = _half(count, seed, "odd word")
    chance = torch.rand(ids.shape, generator=generator(seed, "odd word", "place")).masked_fill(~open_class, -1.0)
    position = chance.argmax(1)
    changed &= open_class.any(1)
    draw, known = generator(seed, "odd word", "word"), {tuple(row) for row in ids.tolist()}
    for row in changed.nonzero()[:, 0].tolist():
        place, words = int(position[row]), ids[row].tolist()
        same = texts.tokens.ids[open_class & (form == form[row, place])].unique().tolist()
        others = [word for word in same if (*words[:place], word, *words[place + 1 :]) not in known]
        if others:
            ids[row, place] = others[int(torch.randint(len(others), (1,), generator=draw))]
            known.add(tuple(ids[row].tolist()))
        else:
            changed[row] = False
    return with_ids(texts, ids), sentence_items(texts, changed.long(), ("as it was", "one word replaced"))


def _inversion(texts: Texts, seed: int) -> Made:
    """Two clauses joined by a conjunction are exchanged in half of the sentences that have two."""
    head, relation, pos = (labelled(texts, name) for name in ("head", "relation", "pos"))
    names, parts = texts.names["relation"], texts.names["pos"]
    joins = ((relation == names.index("cc")) | (relation == names.index("mark"))).tolist()
    ids, kept, root = texts.tokens.ids.clone(), torch.zeros(len(head), dtype=torch.bool), roots(texts)
    half = _half(len(head), seed, "coordination inversion")
    verbs = (pos == parts.index("VERB")) | (pos == parts.index("AUX"))
    for row, length in enumerate(texts.tokens.lengths.tolist()):
        joint = [k for k in range(1, length - 2) if joins[row][k] and _joins_clauses(head[row], k, int(root[row]))]
        if len(joint) == 1 and bool(verbs[row, : joint[0]].any()) and bool(verbs[row, joint[0] + 1 :].any()):
            kept[row] = True
            if half[row]:
                left, right = ids[row, : joint[0]].clone(), ids[row, joint[0] + 1 : length - 1].clone()
                ids[row, : length - 1] = torch.cat([right, ids[row, joint[0] : joint[0] + 1], left])
    if not bool(kept.any()):
        raise UserError("No sentence of this corpus joins two clauses; 'clauses' has some.")
    labels = half.long().where(kept, -1)
    return with_ids(texts, ids), sentence_items(texts, labels, ("as it was", "clauses exchanged"))


def _joins_clauses(head: Tensor, joint: int, root: int) -> bool:
    """Whether the word hangs on the head of a clause that itself hangs on the root."""
    clause = int(head[joint])
    return clause >= 0 and int(head[clause]) == root


SENT_LEN = sentence_task(
    name="SentLen",
    question="How long is the sentence?",
    make=_length,
    unlike_paper="bins hold the same number of sentences, since ours are short",
)

WORD_CONTENT = sentence_task(
    name="WC",
    question="Which one of twenty words does the sentence have?",
    make=_content,
    unlike_paper="20 words, not 1,000",
    rare=True,
)

TREE_DEPTH = sentence_task(
    name="TreeDepth",
    question="How deep is the tree of the sentence?",
    make=_depth,
    unlike_paper="the depth of the dependency tree, not of a constituency tree; not decorrelated from the length",
)

TOP_CONSTITUENTS = sentence_task(
    name="TopConst",
    question="Which phrases make up the sentence, in which order?",
    make=_order,
    unlike_paper="the twelve most frequent orders of our flat phrases, not twenty orders below S",
)

BIGRAM_SHIFT = sentence_task(
    name="BShift",
    question="Were two neighbouring words exchanged?",
    make=_shift,
)

TENSE = sentence_task(
    name="Tense",
    question="Is the main verb in the past or the present?",
    make=_tense,
)

SUBJECT_NUMBER = sentence_task(
    name="SubjNum",
    question="Is the subject of the main clause singular or plural?",
    make=partial(_number, ("nsubj", "nsubj:pass")),
)

OBJECT_NUMBER = sentence_task(
    name="ObjNum",
    question="Is the object of the main clause singular or plural?",
    make=partial(_number, ("obj",)),
)

ODD_MAN_OUT = sentence_task(
    name="SOMO",
    question="Was a noun or a verb replaced by another one?",
    make=_odd,
    unlike_paper="the new word agrees in number and tense; the paper asks for like bigram frequencies instead",
)

COORDINATION_INVERSION = sentence_task(
    name="CoordInv",
    question="Were two joined clauses exchanged?",
    make=_inversion,
    rare=True,
)
