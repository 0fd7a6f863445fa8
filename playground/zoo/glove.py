"""GloVe: vectors that meet the logarithm of how often two words stand near each other."""

from playground.models import Architecture
from playground.objectives.catalog.glove import GLOVE as COUNTS
from playground.zoo.entry import Entry

GLOVE = Entry(
    name="GloVe",
    year=2014,
    paper="Pennington et al. 2014, GloVe: Global vectors for word representation",
    idea="Count which words occur near each other; find vectors whose products are the logarithms of the counts.",
    parent="word2vec",
    changed="Fits the counts of all pairs by least squares instead of learning from one pair of words at a time.",
    aliases=("global vectors",),
    unlike_paper={
        "network": "the vector of a word is the one it has as a centre; the paper adds its two vectors",
    },
    data="Wikipedia, Gigaword and Common Crawl",
    model=Architecture(kind="static", counts=True),
    objective=COUNTS,
)
