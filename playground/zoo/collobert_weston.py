"""C&W: word vectors from telling a true window of text from one with a wrong word in the middle."""

from playground.models import Architecture
from playground.objectives.catalog.pairwise_ranking import PAIRWISE_RANKING
from playground.zoo.entry import Entry

COLLOBERT_WESTON = Entry(
    name="C&W",
    year=2008,
    paper="Collobert and Weston 2008, A unified architecture for natural language processing",
    idea="Score a true window of text above the same window with a wrong word in its middle; keep the word vectors.",
    parent="NNLM",
    changed="Sees both sides of a word, and ranks it above one wrong word instead of scoring the whole vocabulary.",
    aliases=("SENNA", "Collobert and Weston", "Collobert et al. 2011"),
    unlike_paper={
        "network": "a hidden layer as wide as a word vector",
        "tasks": "no labelled tasks are trained with it on the same word vectors",
    },
    data="English Wikipedia",
    model=Architecture(kind="static", two_streams=True, window_radius=5),
    objective=PAIRWISE_RANKING,
)
