"""Attacks on a classifier of sentences: misspellings, greedy word substitution, universal triggers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

import torch
from torch import Generator, Tensor

from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.tasks.typos import mistype
from playground.finetuning.apply.victim import Victim

Texts = Sequence[Sequence[str]]

SHORTEST = 4
"""Letters of the shortest word that is mistyped."""


class TextClassifier(Protocol):
    """Logits `[r, c]` of sentences that are given as words."""

    def scores(self, texts: Texts) -> Tensor: ...


def misspelt(texts: Texts, rate: float, random: Random) -> list[list[str]]:
    """The texts with that share of their words of four letters or more mistyped, one error each."""
    return [
        [mistype(word, random)[0] if len(word) >= SHORTEST and random.random() < rate else word for word in words]
        for words in texts
    ]


def importance(classify: TextClassifier, words: Sequence[str], label: int) -> list[float]:
    """By how much the log-probability of the label falls without a word (TextFooler, arXiv:1907.11932, eq. 2).

    A text of one word has nothing to compare with: its word counts 0.
    """
    if len(words) == 1:
        return [0.0]
    without = [[*words[:k], *words[k + 1 :]] for k in range(len(words))]
    scores = classify.scores([list(words), *without]).log_softmax(-1)[:, label]
    return (scores[0] - scores[1:]).tolist()


def worst_misspelt(classify: TextClassifier, texts: Texts, labels: Sequence[int], random: Random) -> list[list[str]]:
    """The texts with the one long word mistyped that the classifier needs most."""
    found = []
    for words, label in zip(texts, labels, strict=True):
        ranked = importance(classify, words, label)
        long = [k for k, word in enumerate(words) if len(word) >= SHORTEST]
        at = max(long, key=lambda k: ranked[k], default=-1)
        found.append([mistype(word, random)[0] if k == at else word for k, word in enumerate(words)])
    return found


def same_meaning(known: Sequence[str]) -> dict[str, list[str]]:
    """For each word those of its class in our grammar: with one of them the label of a sentence stays as it was."""
    classes = (lex.GOOD, lex.BAD, lex.ASPECTS, lex.ASPECTS_PLURAL, lex.FILM_WORDS, "very really quite truly so")
    groups = [[word for word in group.split() if word in set(known)] for group in classes]
    return {word: [other for other in group if other != word] for group in groups for word in group}


@dataclass(frozen=True)
class Substituted:
    """A sentence after an attack: which words changed, whether the class did, how often the classifier was asked."""

    words: list[str]
    changed: tuple[int, ...]
    fooled: bool
    queries: int


def substitute(
    classify: TextClassifier, words: Sequence[str], label: int, likes: Mapping[str, Sequence[str]], most: int = 3
) -> Substituted:
    """Replace the most important words, one by one, by that of their class that hurts most (arXiv:1907.11932)."""
    ranked = importance(classify, words, label)
    now, changed, queries = list(words), [], len(words) + 1
    for position in sorted(range(len(words)), key=lambda k: -ranked[k]):
        options = likes.get(words[position], ())
        if not options or len(changed) == most:
            continue
        tried = [[*now[:position], option, *now[position + 1 :]] for option in options]
        scores = classify.scores([now, *tried]).log_softmax(-1)
        queries += len(tried) + 1
        best = int(scores[1:, label].argmin())
        if scores[1 + best, label] < scores[0, label]:
            now, changed = tried[best], [*changed, position]
        if int(scores[1 + best].argmax()) != label:
            return Substituted(now, tuple(changed), True, queries)
    return Substituted(now, tuple(changed), False, queries)


def without_polarity(known: Sequence[str]) -> list[str]:
    """Words that can stand before a text without changing its label: no praise, blame or negation, letters alone."""
    loaded = {*f"{lex.GOOD} {lex.BAD} {lex.LIKED} {lex.DISLIKED} not never but good bad".split()}
    return [word for word in known if word.isalpha() and word not in loaded]


def find_trigger(
    victim: Victim, texts: Texts, label: int, length: int, candidates: Sequence[str], tried: int, rounds: int
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Words whose embeddings raise the loss of all texts of a label most (Wallace et al. 2019, arXiv:1908.07125).

    Each word in turn is exchanged for those `tried` candidates for which the first-order estimate, the gradient times
    the embedding, is largest, and the one with the largest true loss is kept. The losses by round come with it.
    """
    labels = [label] * len(texts)
    model = victim.run.model
    table, wider = model.token_embedding.weight.detach(), getattr(model.network, "embedding_projection", None)
    ids = torch.tensor([victim.tokenizer.encode_word(word)[0] for word in candidates], device=table.device)
    vectors = table[ids] if wider is None else table[ids] @ wider.weight.detach().T  # as wide as the network
    trigger = [candidates[0]] * length
    losses = [loss_with(victim, trigger, texts, labels)]
    for _ in range(rounds):
        for position in range(length):
            batch, gradient = victim.embedding_gradient([[*trigger, *words] for words in texts], labels)
            first = int(batch.tokens.maskable[0].nonzero()[0, 0])
            estimate = vectors @ gradient[:, first + position].sum(0)[: vectors.shape[1]]
            best = [candidates[k] for k in estimate.topk(min(tried, len(candidates))).indices.tolist()]
            options = [trigger, *([*trigger[:position], word, *trigger[position + 1 :]] for word in best)]
            measured = [loss_with(victim, option, texts, labels) for option in options]
            trigger = list(options[max(range(len(options)), key=measured.__getitem__)])
            losses.append(max(measured))
    return tuple(trigger), tuple(losses)


def loss_with(victim: Victim, trigger: Sequence[str], texts: Texts, labels: Sequence[int]) -> float:
    """The mean loss in nats of texts with words put before them."""
    scores = victim.scores([[*trigger, *words] for words in texts]).log_softmax(-1)
    return float(-scores.gather(1, torch.tensor(labels)[:, None]).mean())


def random_trigger(candidates: Sequence[str], length: int, rng: Generator) -> list[str]:
    """Words by lot, to compare with."""
    return [candidates[int(k)] for k in torch.randint(len(candidates), (length,), generator=rng)]
