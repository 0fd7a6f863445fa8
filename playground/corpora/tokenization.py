"""Another tokenizer for a corpus of words: every piece keeps the labels of its word."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.corpora.build import Vocabulary, lay_out
from playground.corpora.corpus import Corpus
from playground.knob import knob
from playground.tokenizing.tokenizer import KindOrAuto, Tokenizer, of_counts
from playground.tokenizing.vocabulary import FIRST_WORD

KINDS: dict[str, KindOrAuto] = {
    "auto": "auto", "words": "word", "characters": "character", "wordpiece": "wordpiece", "bpe": "bpe",
    "bytes": "bytes", "unigram": "unigram",
}  # fmt: skip
"""The kinds of tokenizers by the names under which they are chosen."""

PLACES = ("head",)
"""Labels whose values are indices of other tokens of the corpus."""


@dataclass(frozen=True)
class Tokenization:
    """How the words of a corpus are split."""

    tokenizer: str = knob(
        "auto", choices=tuple(KINDS), why="Whole words, characters or pieces; auto: as the text comes."
    )
    vocab_size: int = knob(
        1000, 100, 10_000, unit="tokens", why="Maximum size of a vocabulary, where it can be chosen."
    )

    @property
    def options(self) -> Vocabulary:
        """What the reader of a file gets; nothing where the text decides."""
        return {} if self.tokenizer == "auto" else {"kind": KINDS[self.tokenizer], "size": self.vocab_size}


def retokenized(corpus: Corpus, how: Tokenization) -> Corpus:
    """A corpus of whole words with another tokenizer, trained on its words.

    Its entropy per token shrinks as words get more tokens, because pieces follow from their word.
    """
    if how.tokenizer == "auto" or KINDS[how.tokenizer] == corpus.tokenizer.kind == "word":
        return corpus
    assert corpus.tokenizer.kind == "word", "a text that comes in pieces is read again from the start"
    tokenizer = _trained(corpus, how)
    pieces = [[number] for number in range(FIRST_WORD)]
    pieces += [tokenizer.encode_word(word) for word in corpus.tokenizer.words[FIRST_WORD:]]
    tokenized = lay_out(pieces, corpus.ids)
    first, where = tokenized.first, tokenized.word.long()

    def moved(name: str, row: Tensor) -> Tensor:
        if name in PLACES:
            row = first[row.long()].to(row.dtype).where(row >= 0, -1)
        return (_aligned(corpus, first) if name == "aligned" else row)[where]

    edges = torch.cat([first, torch.tensor([len(where)], dtype=first.dtype)])
    return replace(
        corpus,
        tokenizer=tokenizer,
        ids=tokenized.ids,
        word_ids=corpus.word_ids[where],
        sentence_ids=corpus.sentence_ids[where],
        document_ids=corpus.document_ids[where],
        held_out_from=int(edges[corpus.held_out_from]),
        labels={name: moved(name, row) for name, row in corpus.labels.items()},
        entropy_bound=corpus.entropy_bound and corpus.entropy_bound * len(corpus) / len(where),
        sections=tuple(int(edges[edge]) for edge in corpus.sections),
    )


def _trained(corpus: Corpus, how: Tokenization) -> Tokenizer:
    """A tokenizer of the words of a corpus; words that its vocabulary knows and the text lacks count once."""
    counts = torch.bincount(corpus.ids.long(), minlength=len(corpus.tokenizer)).clamp(min=1).tolist()
    words = dict(zip(corpus.tokenizer.words[FIRST_WORD:], counts[FIRST_WORD:], strict=True))
    return of_counts(words, KINDS[how.tokenizer], how.vocab_size)


def _aligned(corpus: Corpus, first: Tensor) -> Tensor:
    """For each word the position of its translation's first piece in the other sentence of its pair, -1 for none."""
    sentence, aligned = corpus.sentence_ids.long(), corpus.labels["aligned"].long()
    begins = torch.searchsorted(sentence, sentence ^ 1)  # the pair's other sentence; sentences are in order
    there = first[(begins + aligned).clamp(0, len(first) - 1)] - first[begins.clamp(max=len(first) - 1)]
    return there.where(aligned >= 0, -1).to(torch.int32)
