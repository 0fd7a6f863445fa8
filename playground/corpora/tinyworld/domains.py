"""Two domains: film reviews, and reviews of restaurants with the same sentences in other words."""

from dataclasses import replace
from math import log
from random import Random

import torch
from torch import Tensor

from playground.corpora.corpus import Corpus, find_boundary
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.generate import with_articles
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.labels import width
from playground.corpora.tinyworld.supersenses import SUPERSENSES, supersense
from playground.corpora.tinyworld.trees import RELATIONS
from playground.rng import derive, generator
from playground.tokenizing.tokenizer_json import with_words
from playground.tokenizing.vocabulary import FIRST_WORD, SEPARATOR

DOMAINS = ("film", "food")
CODES = ("films", "meals")
"""Control codes: the first word of every document names its domain (CTRL, arXiv:1909.05858, sec. 3)."""


SHARE, VOCABULARY, STYLE = 0.5, 0.5, 0.5
"""The share of documents about food; of the words about films that are replaced there; of its sentences with "!"."""


def split_domains(corpus: Corpus, seed: int) -> Corpus:
    """Turn some documents of the corpus `reviews` into reviews of restaurants, and begin each with its domain."""
    rng = generator(seed, "domains")
    food = torch.rand(int(corpus.document_ids[-1]) + 1, generator=rng) < SHARE
    loud = torch.rand(int(corpus.sentence_ids[-1]) + 1, generator=rng) < STYLE
    food_tokens = food[corpus.document_ids.long()]
    split = _with_codes(_reworded(corpus, food_tokens, loud[corpus.sentence_ids.long()]), food)
    sentences = len(corpus.sentence_ids[food_tokens].unique())
    nats = (corpus.entropy_bound or 0.0) * len(corpus) + len(food) * _entropy(SHARE) + sentences * _entropy(STYLE)
    return replace(
        split,
        held_out_from=find_boundary(split.ids == SEPARATOR, split.sentence_ids),
        label_names={**corpus.label_names, "domain": DOMAINS},
        entropy_bound=nats / len(split) if corpus.entropy_bound else None,
    )


def _reworded(corpus: Corpus, food: Tensor, loud: Tensor) -> Corpus:
    """The corpus with other words, and "!" for full stops of loud sentences, in its tokens about food."""
    words, instead = corpus.tokenizer.words, food_words()
    added = (word for replacements in lex.FOOD.values() for word in replacements.split())
    tokenizer = with_words(corpus.tokenizer, (*CODES, "!", *added))
    replaced = tokenizer.encode_words(instead.get(word, word) for word in words[FIRST_WORD:])
    stop, exclamation = tokenizer.encode_words((".", "!"))
    ids = corpus.ids.where(~food, torch.tensor([*range(FIRST_WORD), *replaced])[corpus.ids])
    ids = ids.where(~(food & loud & (ids == stop)), exclamation)
    pos = {word: "ADJ" for films in (lex.GOOD, lex.BAD) for word in lex.FOOD[films].split()}
    pos |= {word: "VERB" for films in (lex.LIKED, lex.DISLIKED) for word in lex.FOOD[films].split()}
    senses = [supersense(Form(word, pos.get(word, "NOUN"))) for word in tokenizer.words]
    numbers = torch.tensor([SUPERSENSES.index(s) if s else -1 for s in senses], dtype=width(SUPERSENSES))
    labels = {
        **corpus.labels,
        "supersense": numbers[ids].where(ids != corpus.ids, corpus.labels["supersense"]),
        "domain": food.to(torch.int8).masked_fill(ids == SEPARATOR, -1),
    }
    return replace(corpus, tokenizer=tokenizer, ids=with_articles(tokenizer, ids), labels=labels)


def food_words() -> dict[str, str]:
    """Words about films with their replacements."""
    pairs = [pair for films, food in lex.FOOD.items() for pair in zip(films.split(), food.split(), strict=False)]
    Random(derive(0, "food")).shuffle(pairs)
    return dict(pairs[: round(VOCABULARY * len(pairs))])


def _with_codes(corpus: Corpus, food: Tensor) -> Corpus:
    """The corpus with a control code before every document, as part of its first sentence, attached to its root."""
    position = torch.arange(len(corpus)) + corpus.document_ids.long() + 1
    first = torch.ones(len(corpus) + len(food), dtype=torch.bool)
    first[position] = False
    films, meals = corpus.tokenizer.encode_words(CODES)
    follower = first.nonzero()[:, 0] - torch.arange(len(food))
    roots = (corpus.labels["relation"] == RELATIONS.index("root")).nonzero()[:, 0]
    root = roots[torch.searchsorted(roots, follower)]

    def widen(row: Tensor, codes: Tensor) -> Tensor:
        """A row with the values of the control codes inserted."""
        wide = torch.empty(len(first), dtype=row.dtype)
        wide[position] = row
        wide[first] = codes.to(row.dtype)
        return wide

    codes = {
        "domain": food,
        "language": torch.zeros(len(food)),
        "head": position[root],
        "relation": torch.full_like(root, RELATIONS.index("discourse")),
    }
    head = corpus.labels["head"]
    labels = {**corpus.labels, "head": position[head.long()].int().where(head >= 0, -1)}
    no_label = torch.full((len(food),), -1)
    return replace(
        corpus,
        ids=widen(corpus.ids, torch.where(food, meals, films)),
        word_ids=torch.arange(len(first), dtype=torch.int32),
        sentence_ids=widen(corpus.sentence_ids, corpus.sentence_ids[follower]),
        document_ids=widen(corpus.document_ids, corpus.document_ids[follower]),
        labels={name: widen(row, codes.get(name, no_label)) for name, row in labels.items()},
    )


def _entropy(share: float) -> float:
    """The entropy of one binary choice, in nats."""
    return -share * log(share) - (1 - share) * log(1 - share)
