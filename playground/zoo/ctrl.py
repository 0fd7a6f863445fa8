"""CTRL: a language model that writes as the code in front of the text says."""

from playground.models import Architecture
from playground.objectives.catalog.ctrl import CONDITIONAL_LM
from playground.zoo.entry import Entry

CTRL = Entry(
    name="CTRL",
    year=2019,
    paper="arXiv:1909.05858",
    idea="Put a code in front of each text that says what kind it is of; given the code, the model writes such texts.",
    parent="GPT-2",
    changed="A control code in front of every text, taken from where the text was found; positions are computed.",
    aliases=("conditional transformer language model",),
    unlike_paper={
        "data": "one code for the topic, where the paper has codes for sources, links and tasks as well",
        "decoding": "no penalty on words that were written before",
        "tokenizer": "whole words, not pieces of words",
    },
    data="Wikipedia, books, news, Reddit, reviews, translations and questions with answers",
    model=Architecture(positions="sinusoidal", attention="left to right"),
    objective=CONDITIONAL_LM,
)
