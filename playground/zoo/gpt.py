"""GPT: a stack that only looks left, trained to predict the next word."""

from playground.models import Architecture, tiny
from playground.objectives.catalog.lm import LM
from playground.zoo.entry import Entry, PublishedSize

GPT_117M = Architecture(
    layers=12,
    width=768,
    heads=12,
    positions="learned",
    max_position_embeddings=512,
    norm_first=False,
    activation="gelu tanh",
    attention_bias=True,
    lm_head_bias=False,
    dropout=0.1,
    init="normal",
    attention="left to right",
)

GPT = Entry(
    name="GPT",
    year=2018,
    paper="Radford et al. 2018, Improving language understanding by generative pre-training",
    idea="Learn to predict the next word first, then keep the whole network for every task.",
    parent="ULMFiT",
    changed="A transformer instead of the LSTM, and one network that hardly changes from task to task.",
    aliases=("GPT-1", "OpenAI GPT"),
    data="BooksCorpus",
    printed={"objective": "LM", "task": "LM", "GLUE": "72.8", "FT": "yes"},
    published=(PublishedSize("GPT", GPT_117M, 40_478, 117e6, "GPT-2, table 2: its smallest size is that of GPT"),),
    model=tiny(GPT_117M),
    objective=LM,
)
