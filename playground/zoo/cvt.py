"""CVT: a tagger that sees all teaches taggers that see a part, on texts without labels."""

from playground.corpora.tinyworld.labels import LABELS
from playground.models import Architecture
from playground.objectives.catalog.cross_view import CVT as CROSS_VIEW
from playground.zoo.entry import Entry

VIEWS = ("pos forwards", "pos future", "pos backwards", "pos past", "pos")
"""The heads of the four views, and that of the whole text."""

CROSS_VIEW_TRAINING = Entry(
    name="CVT",
    year=2018,
    paper="arXiv:1809.08370",
    idea="Learn from labels where they are known; elsewhere, views of a part of the text learn the prediction for the "
    "whole.",
    parent="Dai and Le",
    changed="The model learns from labelled and unlabelled texts together, not from one after the other.",
    aliases=("cross-view training",),
    unlike_paper={
        "network": "the four views read both layers of their own direction, where the paper gives them the first layer "
        "alone; and word vectors trained from scratch, without the paper's characters and GloVe",
        "tasks": "parts of speech alone, not several tasks in alternation",
    },
    data="the labelled texts of each task and 1 Billion Word Benchmark",
    model=Architecture(kind="lstm", labels=tuple((view, len(LABELS["pos"])) for view in VIEWS)),
    objective=CROSS_VIEW,
)
