"""TagLM: the top states of two language models as an extra input of a tagger."""

from playground.models import Architecture
from playground.objectives.catalog.elmo import BILM
from playground.zoo.entry import Entry

TAGLM = Entry(
    name="TagLM",
    year=2017,
    paper="arXiv:1705.00108",
    idea="A tagger learns from few labels; the states of two language models tell it what much plain text teaches.",
    parent="context2vec",
    changed="Two language models, one for each side of a word; a tagger reads their top states, which stay frozen.",
    aliases=("language-model-augmented sequence tagger",),
    unlike_paper={
        "network": "both directions share their word vectors and have the same size; in the paper they are trained "
        "separately, and the one from left to right is a larger, character-based model of other authors",
    },
    data="1 Billion Word Benchmark",
    model=Architecture(kind="lstm", backward=True, attention="left to right"),
    objective=BILM,
)
