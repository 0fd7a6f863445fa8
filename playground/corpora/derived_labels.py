"""Labels that follow from a text and its other labels; a corpus does not hold them, an objective asks for them."""

from collections.abc import Collection
from dataclasses import replace

import torch
from torch import Tensor

from playground.corpora.corpus import Corpus

ANSWERS = ("no", "yes")


def with_derived(corpus: Corpus, names: Collection[str]) -> Corpus:
    """The corpus with those of its derived labels that are named."""
    made = {name: DERIVED[name](corpus) for name in sorted(DERIVED.keys() & set(names)) if _has(corpus, name)}
    known = {**corpus.label_names, **dict.fromkeys(made, ANSWERS)}
    return replace(corpus, labels={**corpus.labels, **made}, label_names=known) if made else corpus


def _has(corpus: Corpus, name: str) -> bool:
    return name != "capitalized" or "mention" in corpus.labels


def _capitalized(corpus: Corpus) -> Tensor:
    """Which words `[t]` are written with a capital letter: names, "i", and the first of each sentence; -1 at [SEP].

    Our grammar writes small letters, so that no word gives it away.
    """
    words = _words(corpus)
    begins = torch.ones_like(words)
    sentence, document = corpus.sentence_ids, corpus.document_ids
    begins[1:] = (sentence[1:] != sentence[:-1]) | (document[1:] != document[:-1])
    first = corpus.word_ids.masked_fill(~begins, -1).cummax(0).values == corpus.word_ids
    speaker = torch.tensor([word == "i" for word in corpus.tokenizer.words])[corpus.ids.long()]
    capital = first | speaker | (corpus.labels["mention"] >= 0)
    return capital.to(torch.int8).where(words, -1)


def _recurring(corpus: Corpus) -> Tensor:
    """Which words `[t]` stand in another sentence of their document too; -1 at [SEP]."""
    key = corpus.document_ids.long() * len(corpus.tokenizer) + corpus.ids
    return in_several(key, corpus.sentence_ids.long()).to(torch.int8).where(_words(corpus), -1)


def in_several(words: Tensor, sentences: Tensor) -> Tensor:
    """Which words `[t]`, given by any numbers, stand in more than one of the sentences `[t]`."""
    number = words.unique(return_inverse=True)[1]
    first, last = (
        torch.zeros_like(words).scatter_reduce(0, number, sentences, end, include_self=False)
        for end in ("amin", "amax")
    )
    return (first != last)[number]


def _words(corpus: Corpus) -> Tensor:
    return corpus.ids != corpus.tokenizer.specials.sep


DERIVED = {"capitalized": _capitalized, "recurring": _recurring}
