"""What probes of a subject read: different sentences, its states of them, and those of a random encoder."""

from dataclasses import replace
from typing import get_args

import torch
from torch import Tensor

from playground.analysis.probing.classifier import random_encoder
from playground.analysis.probing.items import FEWEST, Items, Texts, items_of
from playground.analysis.probing.task import Made, ProbingTask
from playground.analysis.probing.texts import different, first_rows
from playground.analysis.subject import SENTENCES, Subject, cut_sentences, find_sentences
from playground.batch import Tokens
from playground.corpora import pick
from playground.corpora.corpus import Part
from playground.errors import UserError

CANDIDATES = 10
"""How many sentences are looked at for one that is read, where the items of a task are rare."""


def probing_texts(subject: Subject, count: int) -> Texts:
    """Different held-out sentences of a subject's corpus, the same for all probes."""
    names = subject.corpus.label_names
    texts = subject.once(("probing texts", count), lambda: Texts(different(subject.sentences(count)), names))
    subject.count(len(texts.tokens.ids), f"different {SENTENCES}", count)
    return texts


def probing_items(subject: Subject, task: ProbingTask, count: int) -> Made:
    """What a task asks of `count` sentences; the finding will say how many items of rare classes are left out.

    The held-out text has too few sentences for a task that is `rare`: its probes are fitted on training sentences that
    have an item and tested on held-out ones.
    """
    if not task.rare:
        return make_items(subject, task, probing_texts(subject, count))
    read, items = task.make(subject.once(("candidates", count), lambda: _candidates(subject, count)), subject.seed)
    rows = items.rows.unique()
    rows = rows[torch.randperm(len(rows), generator=subject.rng("rows", task.name))]
    fit, test = rows[rows < read.fitted][:count], rows[rows >= read.fitted][: count // 2]
    if not len(fit) or not len(test):
        raise UserError(
            f"{len(fit)} training sentences and {len(test)} held-out ones have an item of {task.name}; a probe is "
            "fitted on some and tested on others. Choose more text."
        )
    chosen = torch.cat([fit, test])
    number = torch.full((len(read.tokens.ids),), -1)
    number[chosen] = torch.arange(len(chosen))
    some = items.pick((number[items.rows] >= 0).nonzero()[:, 0])
    made = items_of(number[some.rows], some.positions, some.labels, some.types, some.names)
    subject.count(len(fit), f"training sentences with an item of {task.name}", count)
    subject.count(len(test), f"held-out sentences with an item of {task.name}", count // 2)
    texts = Texts(pick(read.tokens, chosen), read.names, len(fit))
    return texts, _counted(subject, task, replace(made, rare=made.rare + items.rare, fitted=len(fit)))


def _candidates(subject: Subject, count: int) -> Texts:
    """Different sentences, `CANDIDATES` times as many as are read: of the training text, then held-out ones."""
    corpus = subject.corpus
    (fit, fit_lengths), (test, test_lengths) = (
        find_sentences(corpus, CANDIDATES * count, part, subject.rng("candidates", part)) for part in get_args(Part)
    )
    tokens = cut_sentences(corpus, torch.cat([fit, test]), torch.cat([fit_lengths, test_lengths]))
    rows = first_rows(tokens)  # a sentence of both parts would be known by heart
    return Texts(pick(tokens, rows), corpus.label_names, int((rows < len(fit)).sum()))


def make_items(subject: Subject, task: ProbingTask, texts: Texts) -> Made:
    """What a task makes of the texts; the finding will say how many items of rare classes are left out."""
    read, items = task.make(texts, subject.seed)
    return read, _counted(subject, task, replace(items, fitted=read.fitted))


def _counted(subject: Subject, task: ProbingTask, items: Items) -> Items:
    subject.count(len(items), f"items of {task.name}")
    if items.rare:
        left_out = f"{items.rare:,} of {items.rare + len(items):,} items are left out"
        subject.lacking.append(f"{task.name}: {left_out}, as their classes have fewer than {FEWEST}.")
    return items


def untrained(subject: Subject) -> Subject:
    """The same subject with a random encoder in place of its model."""

    def made() -> Subject:
        model = random_encoder(subject.model, subject.seed, subject.tokenizer.words)
        return replace(subject, model=model, known={})

    return subject.once("random encoder", made)


def both_states(subject: Subject, tokens: Tokens) -> tuple[list[Tensor], list[Tensor]]:
    """The states `[r, t, d]` of all levels, of the model and of the random encoder, on the CPU."""
    own, other = subject.states(tokens), untrained(subject).states(tokens)
    return [level.cpu() for level in own], [level.cpu() for level in other]
