"""fastText: word vectors made of the vectors of their letters."""

from playground.models import Architecture
from playground.objectives.catalog.word2vec import SKIP_GRAM_SAMPLED
from playground.zoo.entry import Entry

FASTTEXT = Entry(
    name="fastText",
    year=2016,
    paper="arXiv:1607.04606",
    idea="Build a word's vector from those of its pieces of three to six letters, so that a new word has one too.",
    parent="word2vec",
    changed="The vector of a word is the sum of its own vector and those of its character n-grams.",
    aliases=("subword skip-gram",),
    unlike_paper={
        "data": "no frequent words left out at random, because in a small vocabulary every word is frequent",
    },
    data="Wikipedia in nine languages, a model for each",
    model=Architecture(kind="static", ngrams=2000),
    objective=SKIP_GRAM_SAMPLED,
)
