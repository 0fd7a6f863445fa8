"""CTRL: a language model that writes as the code in front of the text says."""

from playground.models import Architecture, tiny
from playground.objectives.catalog.ctrl import CONDITIONAL_LM
from playground.zoo.entry import Entry, PublishedSize

CTRL_48_LAYERS = Architecture(
    layers=48,
    width=1280,
    heads=16,
    mlp_ratio=6.4,
    positions="sinusoidal",
    norm_eps=1e-6,
    activation="relu",
    attention_bias=True,
    dropout=0.1,
    init="normal",
    attention="left to right",
)

CTRL = Entry(
    name="CTRL",
    year=2019,
    paper="arXiv:1909.05858",
    idea="Begin each text with a code that says what kind of text it is; given the code, the model writes such texts.",
    parent="GPT-2",
    changed="A control code before every text, taken from the source of the text; position encodings are computed.",
    aliases=("conditional transformer language model", "CTRL 48 layers"),
    unlike_paper={
        "data": "one code for the topic, where the paper has codes for sources, links and tasks as well",
        "decoding": "no penalty on words that were already written",
        "tokenizer": "whole words, not pieces of words",
    },
    data="Wikipedia, books, news, Reddit, reviews, translations and questions with answers",
    published=(PublishedSize("CTRL, 48 layers", CTRL_48_LAYERS, 246_534, 1.63e9, "sec. 3.2"),),
    model=tiny(CTRL_48_LAYERS),
    objective=CONDITIONAL_LM,
)
