"""The text of a corpus in the vocabulary of a tokenizer from elsewhere, which is kept in a checkpoint alone."""

from itertools import pairwise

from playground.corpora.build import DocumentWords, build
from playground.corpora.corpus import Corpus
from playground.tokenizing import Tokenizer

IN_WORDS = " in the vocabulary of "
"""Stands between the name of a corpus and what the other tokenizer belongs to."""


def respelt(corpus: Corpus, tokenizer: Tokenizer) -> Corpus:
    """The text of a corpus in the pieces of another tokenizer."""
    words, sentence, begin = DocumentWords(), corpus.sentence_ids.tolist(), 0
    ids, number = corpus.ids.tolist(), corpus.word_ids.tolist()
    ends = [k for k, token in enumerate(ids) if token == corpus.tokenizer.specials.sep] or [len(ids)]
    for end in ends:
        starts = [k for k in range(begin, end) if k == begin or number[k] != number[k - 1]]
        edges = [*starts, end]
        spelt = [corpus.tokenizer.join(ids[a:b]) for a, b in pairwise(edges)]
        first = sentence[begin] if begin < end else 0
        words.add(spelt, [sentence[k] - first for k in starts])
        words.close()
        begin = end + 1
    return build(corpus.name, words, tokenizer=tokenizer)
