"""Sigma-GPT: a GPT that predicts the words in any order, because it is given the position of the next one."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.any_order import ANY_ORDER
from playground.zoo.entry import Entry
from playground.zoo.gpt2 import GPT_2_SMALL
from playground.zoo.recipe import Recipe

SIGMA_GPT = Entry(
    name="sigma-GPT",
    year=2024,
    paper="arXiv:2404.09562",
    idea="Shuffle the words and give each the position of the word that comes next; one causal network then predicts "
    "in any order.",
    parent="GPT-2",
    changed="A random order for every text. Half of each position vector is for the word itself, half for the next.",
    unlike_paper={
        "order": "every text has a random order from the first step on, where the paper also begins with texts in "
        "their own order; [START] comes first, so that the first word of an order is predicted too",
        "network": "position vectors are learned, as in the released code for text, where the paper has sinusoids",
        "decoding": "text is written from left to right, not several words at a time with rejection",
        "tokenizer": "whole words, not pieces of bytes",
    },
    data="texts of the web (OpenWebText in the released code)",
    model=replace(tiny(GPT_2_SMALL), second_positions="concatenated"),
    recipe=Recipe(seq_len=64, batch_size=16),
    objective=ANY_ORDER,
)
