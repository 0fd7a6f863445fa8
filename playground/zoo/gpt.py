"""GPT: a stack that only looks left, trained to predict the next word."""

from playground.models import Architecture
from playground.objectives.catalog.lm import LM
from playground.zoo.entry import Entry

GPT = Entry(
    name="GPT",
    year=2018,
    paper="Radford et al. 2018, Improving language understanding by generative pre-training",
    idea="Learn to predict the next word first, then keep the whole network for every task.",
    model=Architecture(attention="left to right"),
    objective=LM,
)
