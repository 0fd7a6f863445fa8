"""word2vec: a vector for every word, learned from the words beside it."""

from playground.models import Architecture
from playground.objectives.catalog.word2vec import SKIP_GRAM_SAMPLED
from playground.zoo.entry import Entry

WORD2VEC = Entry(
    name="word2vec",
    year=2013,
    paper="arXiv:1310.4546; arXiv:1301.3781 for the first skip-gram, with a hierarchical softmax",
    idea="Tell the words near a word from random words; the model is just two tables of vectors.",
    parent="NNLM",
    changed="No hidden layer and no softmax over the whole vocabulary, so it can read far more text.",
    aliases=("word to vec", "word2vec skip-gram"),
    unlike_paper={
        "data": "no frequent words left out at random, because in a small vocabulary every word is frequent; and no "
        "phrases joined to one word",
    },
    data="Google News",
    model=Architecture(kind="static"),
    objective=SKIP_GRAM_SAMPLED,
)
