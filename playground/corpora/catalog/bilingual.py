"""TinyWorld in two languages that never stand side by side: each document is in one of them, none is a translation."""

from dataclasses import dataclass, replace
from math import log

from playground.corpora.corpus import Corpus, joined
from playground.corpora.sources import Source
from playground.corpora.tinyworld.generate import generate
from playground.corpora.tinyworld.translate import Language, in_other_words
from playground.knob import knob
from playground.rng import derive


@dataclass(frozen=True)
class Bilingual(Language):
    """How alike the two languages are, and how much of the text is in the second."""

    second: float = knob(0.5, 0.05, 0.95, unit="share of the text", why="How much is in the second language.")


def make_bilingual(seed: int, tokens: int, settings: Bilingual | None = None) -> Corpus:
    """About so many tokens of documents of `world`; those of the second language are other documents, translated.

    No row of training text is in both: the text of each language is a section of its own.
    """
    settings = settings or Bilingual()
    shares = (1 - settings.second, settings.second)
    texts = [generate("world", derive(seed, "bilingual", k), round(share * tokens)) for k, share in enumerate(shares)]
    corpus = joined([in_other_words(text, settings, second=k == 1) for k, text in enumerate(texts)])
    nats = sum((text.entropy_bound or 0.0) * len(text) for text in texts)
    which = -sum(share * log(share) for share in shares) * (
        int(corpus.document_ids[-1]) + 1
    )  # of the two languages it is
    bound = (nats + which) / len(corpus)
    return replace(corpus, name="bilingual", description=BILINGUAL.idea, entropy_bound=bound)


BILINGUAL = Source(
    name="bilingual",
    aliases=("monolingual documents in two languages", "mBERT's text"),
    idea="Documents of world, half of them in an invented language; no text comes with its translation.",
    make=make_bilingual,
    settings=Bilingual(),
)
