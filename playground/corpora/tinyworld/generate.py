"""Generate a corpus with the grammar of TinyWorld, with the true labels of every token."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from math import exp
from random import Random

import torch
from torch import Tensor

from playground.corpora.corpus import Corpus, find_boundary
from playground.corpora.tinyworld.grammar import Form, Grammar, Rule
from playground.corpora.tinyworld.inflection import takes_an
from playground.corpora.tinyworld.labels import LABELS, MARKS, mentions, of_forms, of_preset, unbracket, width
from playground.corpora.tinyworld.trees import trees
from playground.corpora.tinyworld.vocabulary import vocabulary
from playground.corpora.tinyworld.world import find_preset, grammar
from playground.rng import derive
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.vocabulary import SEPARATOR


def generate(preset: str, seed: int, tokens: int) -> Corpus:
    """Documents until there are `tokens` tokens, with labels and the entropy bound of the grammar in nats per token.

    The bound sums -log p of every choice, also of those that leave no trace in the text, so the true entropy of
    whole documents is at most this high.
    """
    rules = grammar(preset)
    bracketed, kinds, nats = _documents(preset, Random(derive(seed, "tinyworld", preset)), tokens)
    forms, marks = unbracket(rules.forms, torch.tensor(bracketed))
    marks |= of_preset(find_preset(preset).labels, rules.forms, forms)
    ends = forms == len(rules.forms)
    document = (ends.cumsum(0) - ends.long()).int()
    stops = torch.tensor([*(form.word in (".", "?") for form in rules.forms), False])[forms].long()
    sentence = (stops.cumsum(0) - stops - ends.long()).int()  # [SEP] belongs to the sentence before it
    tokenizer = vocabulary(preset)
    ids = torch.tensor([*tokenizer.encode_words(form.word for form in rules.forms), SEPARATOR])[forms]
    return Corpus(
        name=preset,
        description=find_preset(preset).idea,
        tokenizer=tokenizer,
        ids=with_articles(tokenizer, ids),
        word_ids=torch.arange(len(ids), dtype=torch.int32),
        sentence_ids=sentence,
        document_ids=document,
        held_out_from=find_boundary(ids == SEPARATOR, sentence),
        labels={
            **of_forms(rules.forms, forms),
            **marks,
            **trees(rules.forms, forms, marks, sentence),
            "mention": mentions(rules.forms, forms),
            **_document_labels(rules, kinds, document, ends),
            "language": torch.zeros(len(ids), dtype=torch.int8),
        },
        label_names={**LABELS, **{name: values for name, values in MARKS.items() if name in marks}},
        entropy_bound=nats / len(ids),
    )


def _documents(preset: str, random: Random, tokens: int) -> tuple[list[int], list[int], float]:
    """The numbers of the forms of all documents, brackets included, the kind of each document, and the total nats."""
    rules = grammar(preset)
    start, end = rules.rules[rules.names["Document"]], len(rules.forms)
    closing = [number for number, form in enumerate(rules.forms) if form.word[-1] in "]}"]
    bracketed: list[int] = []
    kinds: list[int] = []
    nats = 0.0
    drawn = (bisect_right(start.limits, random.random()) for _ in count())
    for way in _deal(start, random) if find_preset(preset).dealt else drawn:
        kind = start.parts[way][0]
        document: list[int] = []
        nats += start.costs[way] + rules.write(kind, random.random, document)
        tokens -= len(document) + 1 - 2 * sum(map(document.count, closing))
        bracketed += document
        bracketed.append(end)
        kinds.append(kind)
        if tokens <= 0:
            break
    return bracketed, kinds, nats


def _deal(start: Rule, random: Random) -> Iterator[int]:
    """Kinds of documents in rounds: each as often as its weight says, in random order."""
    weights = [round(exp(max(start.costs) - cost)) for cost in start.costs]
    deck = [way for way, weight in enumerate(weights) for _ in range(weight)]
    while True:
        random.shuffle(deck)
        yield from deck


def spell(forms: Sequence[Form]) -> list[str]:
    """Forms as words, without the brackets, with "an" where the next word needs it."""
    words = [form.word for form in forms if form.pos]
    return ["an" if word == "a" and takes_an(after) else word for word, after in pairwise([*words, "."])]


def with_articles(tokenizer: Tokenizer, ids: Tensor) -> Tensor:
    """The ids of a text with "a" or "an" as the next word needs it."""
    a, an = tokenizer.encode_words(("a", "an"))
    needs_an = torch.tensor([takes_an(word) for word in tokenizer.words])[ids]
    before_vowel = torch.cat([needs_an[1:], torch.tensor([False])])
    return torch.where((ids == a) | (ids == an), torch.where(before_vowel, an, a), ids)


def _document_labels(rules: Grammar, kinds: list[int], document: Tensor, ends: Tensor) -> dict[str, Tensor]:
    """Polarity and topic, which all tokens of a document share except its [SEP]."""
    suffixes = {number: name.partition("-")[2] for name, number in rules.names.items()}
    labels = {}
    for name in ("polarity", "topic"):
        place = {value: k for k, value in enumerate(LABELS[name])}
        values = torch.tensor([place.get(suffixes[kind], -1) for kind in kinds], dtype=width(LABELS[name]))
        labels[name] = values[document].masked_fill(ends, -1)
    return labels
