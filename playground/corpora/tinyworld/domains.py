"""Two domains: film reviews, and reviews of restaurants that say the same in other words."""

from dataclasses import replace
from math import log
from random import Random

import torch
from torch import Tensor

from playground.corpora.corpus import Corpus, find_boundary
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.inflection import takes_an
from playground.corpora.tinyworld.labels import width
from playground.corpora.tinyworld.supersenses import SUPERSENSES, supersense
from playground.corpora.tinyworld.trees import RELATIONS
from playground.errors import Refusal
from playground.rng import derive, generator
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.vocabulary import FIRST_WORD, SEPARATOR

DOMAINS = ("film", "food")
CODES = ("films", "meals")
"""The first word of every document, where documents say what they are (CTRL, arXiv:1909.05858, sec. 3)."""


def split_domains(
    corpus: Corpus, seed: int, *, vocabulary: float = 0.5, style: float = 0.5, share: float = 0.5, codes: bool = True
) -> Corpus:
    """Turn a share of the documents of the corpus `reviews` into reviews of restaurants.

    In these a share `vocabulary` of the words about films is replaced, word for word, and a share `style` of the
    sentences ends with "!". With 0 and 0 the domains are the same. `codes` writes the domain before each document.
    """
    for name, value in {"vocabulary": vocabulary, "style": style, "share": share}.items():
        if not 0 <= value <= 1:
            raise Refusal(f"{name} is {value}; it is a share and lies between 0 and 1.")
    rng = generator(seed, "domains")
    food = torch.rand(int(corpus.document_ids[-1]) + 1, generator=rng) < share
    loud = torch.rand(int(corpus.sentence_ids[-1]) + 1, generator=rng) < style
    split = _reworded(corpus, food[corpus.document_ids.long()], loud[corpus.sentence_ids.long()], vocabulary)
    split = _with_codes(split, food) if codes else split
    sentences = len(corpus.sentence_ids[food[corpus.document_ids.long()]].unique())
    nats = (corpus.entropy_bound or 0.0) * len(corpus) + len(food) * _nats(share) + sentences * _nats(style)
    return replace(
        split,
        held_out_from=find_boundary(split.ids, split.sentence_ids),
        label_names={**corpus.label_names, "domain": DOMAINS},
        entropy_bound=nats / len(split) if corpus.entropy_bound else None,
    )


def _reworded(corpus: Corpus, food: Tensor, loud: Tensor, vocabulary: float) -> Corpus:
    """The corpus with other words, and "!" for loud stops, where it speaks of food."""
    tokenizer = _both(corpus.tokenizer)
    stop, cry = tokenizer.encode_words((".", "!"))
    ids = corpus.ids.where(~food, _food(corpus.tokenizer, tokenizer, vocabulary)[corpus.ids])
    ids = ids.where(~(food & loud & (ids == stop)), cry)
    meaning = _meanings(tokenizer)[ids].where(ids != corpus.ids, corpus.labels["supersense"])
    domain = food.to(torch.int8).masked_fill(ids == SEPARATOR, -1)
    labels = {**corpus.labels, "supersense": meaning, "domain": domain}
    return replace(corpus, tokenizer=tokenizer, ids=_articles(tokenizer, ids), labels=labels)


def food_words(vocabulary: float) -> dict[str, str]:
    """What each replaced word of the films becomes; more of them the higher the share, and none comes back."""
    pairs = [pair for films, food in lex.FOOD.items() for pair in zip(films.split(), food.split(), strict=False)]
    Random(derive(0, "food")).shuffle(pairs)
    return dict(pairs[: round(vocabulary * len(pairs))])


def _both(films: Tokenizer) -> Tokenizer:
    """One vocabulary for both domains, whatever the knobs, so that models fit all of them."""
    food = (word for words in lex.FOOD.values() for word in words.split())
    return replace(films, words=tuple(dict.fromkeys((*films.words, *CODES, "!", *food))))


def _food(films: Tokenizer, both: Tokenizer, vocabulary: float) -> Tensor:
    """For each id of the films the id that stands for it in reviews of food."""
    instead = food_words(vocabulary)
    return torch.tensor([*range(FIRST_WORD), *both.encode_words(instead.get(w, w) for w in films.words[FIRST_WORD:])])


def _meanings(tokenizer: Tokenizer) -> Tensor:
    """The supersense of each word about food."""
    pos = {word: "ADJ" for films in (lex.GOOD, lex.BAD) for word in lex.FOOD[films].split()}
    pos |= {word: "VERB" for films in (lex.LIKED, lex.DISLIKED) for word in lex.FOOD[films].split()}
    said = [supersense(Form(word, pos.get(word, "NOUN"))) for word in tokenizer.words]
    return torch.tensor([SUPERSENSES.index(one) if one else -1 for one in said], dtype=width(SUPERSENSES))


def _articles(tokenizer: Tokenizer, ids: Tensor) -> Tensor:
    """A or an as the next word wants it."""
    a, an = tokenizer.encode_words(("a", "an"))
    vowel = torch.tensor([takes_an(word) for word in tokenizer.words])[ids]
    before_a_vowel = torch.cat([vowel[1:], torch.tensor([False])])
    return torch.where((ids == a) | (ids == an), torch.where(before_a_vowel, an, a), ids)


def _with_codes(corpus: Corpus, food: Tensor) -> Corpus:
    """The same with the code of its domain before every document, as part of the first sentence."""
    place = torch.arange(len(corpus)) + corpus.document_ids.long() + 1
    first = torch.ones(len(corpus) + len(food), dtype=torch.bool)
    first[place] = False
    films, meals = corpus.tokenizer.encode_words(CODES)
    follower = first.nonzero()[:, 0] - torch.arange(len(food))

    def widen(row: Tensor, codes: Tensor) -> Tensor:
        wide = torch.empty(len(first), dtype=row.dtype)
        wide[place] = row
        wide[first] = codes.to(row.dtype)
        return wide

    nothing = torch.full((len(food),), -1)
    codes = {"domain": food, "language": torch.zeros(len(food)), **_hung(corpus, place, follower)}
    head = corpus.labels["head"]
    labels = {**corpus.labels, "head": place[head.long()].int().where(head >= 0, -1)}
    return replace(
        corpus,
        ids=widen(corpus.ids, torch.where(food, meals, films)),
        word_ids=torch.arange(len(first), dtype=torch.int32),
        sentence_ids=widen(corpus.sentence_ids, corpus.sentence_ids[follower]),
        document_ids=widen(corpus.document_ids, corpus.document_ids[follower]),
        labels={name: widen(row, codes.get(name, nothing)) for name, row in labels.items()},
    )


def _hung(corpus: Corpus, place: Tensor, follower: Tensor) -> dict[str, Tensor]:
    """Each code hangs on the root of the sentence that it begins."""
    roots = (corpus.labels["relation"] == RELATIONS.index("root")).nonzero()[:, 0]
    root = roots[torch.searchsorted(roots, follower)]
    return {"head": place[root], "relation": torch.full_like(root, RELATIONS.index("discourse"))}


def _nats(share: float) -> float:
    """What one choice of two costs, in nats."""
    return 0.0 if share in (0, 1) else -share * log(share) - (1 - share) * log(1 - share)
