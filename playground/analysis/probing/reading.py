"""What probes of a subject read: different sentences, its states of them, and those of a random encoder."""

from dataclasses import replace

import torch
from torch import Tensor

from playground.analysis.probing.classifier import random_encoder
from playground.analysis.probing.items import FEWEST, Texts
from playground.analysis.probing.task import Made, ProbingTask
from playground.analysis.probing.texts import different, first_rows
from playground.analysis.subject import SENTENCES, Subject, cut_sentences, find_sentences
from playground.batch import Tokens
from playground.corpora import pick
from playground.corpora.corpus import Part


def probing_texts(subject: Subject, count: int) -> Texts:
    """Different held-out sentences of a subject's corpus, the same for all probes."""
    names = subject.corpus.label_names
    texts = subject.once(("probing texts", count), lambda: Texts(different(subject.sentences(count)), names))
    subject.count(len(texts.tokens.ids), f"different {SENTENCES}", count)
    return texts


def sense_texts(subject: Subject, count: int) -> Texts:
    """Different sentences with an ambiguous word: of the training text to fit a probe on, held-out ones to test it.

    Such words are rare, so the held-out text alone has too few to fit a probe of many senses.
    """

    def made() -> Texts:
        corpus = subject.corpus
        (fit, fit_lengths), (test, test_lengths) = (
            find_sentences(corpus, most, part, subject.rng("ambiguous", part), "sense")
            for part, most in tuple[tuple[Part, int], ...]((("train", count), ("held_out", count // 2)))
        )
        tokens = cut_sentences(corpus, torch.cat([fit, test]), torch.cat([fit_lengths, test_lengths]))
        rows = first_rows(tokens)  # a sentence of both parts would be known by heart
        return Texts(pick(tokens, rows), corpus.label_names, int((rows < len(fit)).sum()))

    texts = subject.once(("sense texts", count), made)
    subject.count(texts.fitted, "training sentences with an ambiguous word", count)
    subject.count(len(texts.tokens.ids) - texts.fitted, "held-out sentences with an ambiguous word", count // 2)
    return texts


def make_items(subject: Subject, task: ProbingTask, texts: Texts) -> Made:
    """What a task makes of the texts; the finding will say how many items of rare classes are left out."""
    read, items = task.make(texts, subject.seed)
    subject.count(len(items), f"items of {task.name}")
    if items.rare:
        left_out = f"{items.rare:,} of {items.rare + len(items):,} items are left out"
        subject.lacking.append(f"{task.name}: {left_out}, as their classes have fewer than {FEWEST}.")
    return read, items


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
