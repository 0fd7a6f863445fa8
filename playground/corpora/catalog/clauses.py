"""Two clauses each, cut out of a sentence, and the word that joined them."""

from playground.corpora.catalog.pairwise import of_pairs
from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.presets.arguments import JOINED
from playground.corpora.tinyworld.tasks.connectives import connective_sentences

LENGTH = 10
"""Tokens of a pair, its [SEP] included."""

MOST = 12_000
"""Pairs that are drawn at most; all of them differ."""


def make_clauses(seed: int, tokens: int) -> Corpus:
    """About so many tokens of clauses in pairs, each connective equally often; both clauses know which it was."""
    joined, labels = connective_sentences(min(MOST, max(8, tokens // LENGTH)), seed)
    return of_pairs("clauses", [(both.first, both.second) for both in joined], "connective", labels, JOINED)


CLAUSES = Source(
    name="clauses",
    aliases=("discourse",),
    idea="Two clauses of a film review each, and which word joined them: and, but, because or so.",
    make=make_clauses,
    tokens=100_000,
)
