"""ELMo: the layers of two LSTM language models, mixed as each task wants."""

from playground.models import Architecture
from playground.objectives.catalog.elmo import BILM
from playground.zoo.entry import Entry

ELMO = Entry(
    name="ELMo",
    year=2018,
    paper="arXiv:1802.05365",
    idea="Two LSTM language models read from either side; every layer of both says something about a word in its "
    "context.",
    parent="TagLM",
    changed="Word vectors come from characters, both directions are trained together, and a task mixes all their "
    "layers.",
    aliases=("ELMo small", "ELMo medium", "ELMo original", "ELMo 5.5B", "embeddings from language models"),
    unlike_paper={
        "network": "no residual connection between the two layers, no projection of the states to an eighth of their "
        "number, one highway layer and not two, no convolutions over six and seven letters; and every word of the "
        "vocabulary is scored, not a sample of them",
    },
    data="1 Billion Word Benchmark",
    printed={"objective": "LM", "task": "BiLM", "FT": "no"},
    model=Architecture(kind="lstm", char_cnn=True, backward=True, attention="left to right"),
    objective=BILM,
)
