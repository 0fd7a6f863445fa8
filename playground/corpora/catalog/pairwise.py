"""Corpora whose documents are two texts each, the second an answer to the first or judged beside it."""

from collections.abc import Sequence

from playground.corpora.build import NO_LABELS, DocumentWords, WordLabels, build
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
    labels = WordLabels({label: words.spread(values)}, names={label: names}) if label else NO_LABELS
    return build(name, words, tokenizer=shared_vocabulary(), labels=labels)
