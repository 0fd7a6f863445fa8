"""Corpora whose documents are two texts each, the second an answer to the first or judged beside it."""

from collections.abc import Sequence

from playground.corpora.build import DocumentWords, build
from playground.corpora.corpus import Corpus
from playground.corpora.tinyworld.vocabulary import shared_vocabulary

Pair = tuple[list[str], list[str]]


def of_pairs(
    name: str, pairs: Sequence[Pair], label: str = "", values: Sequence[int] = (), names: tuple[str, ...] = ()
) -> Corpus:
    """A document for each pair: its texts are a sentence each, whatever stops stand inside them.

    Every word of a document has the value of its pair, so that both halves know it.
    """
    words = DocumentWords()
    for pair in pairs:
        for text in pair:
            words.add(text, [0] * len(text))
        words.close()
    known = {"labels": {label: words.spread(values)}, "label_names": {label: names}} if label else {}
    return build(name, words, tokenizer=shared_vocabulary(), **known)
