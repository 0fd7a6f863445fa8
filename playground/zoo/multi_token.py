"""Multi-token prediction: a GPT whose states predict four words at once."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.multi_token_prediction import MULTI_TOKEN
from playground.zoo.entry import Entry
from playground.zoo.gpt2 import GPT_2_SMALL
from playground.zoo.recipe import Recipe

MULTI_TOKEN_GPT = Entry(
    name="multi-token GPT",
    year=2024,
    paper="arXiv:2404.19737",
    idea="Predict the next four words at every position, each by a layer of its own on the same states; only the layer "
    "for the next word is kept.",
    parent="GPT-2",
    changed="Three more layers, each for a word further on; all four share the final norm and the table of words.",
    aliases=("Gloeckle et al.", "Better & Faster Large Language Models"),
    unlike_paper={
        "network": "as many layers below the heads as a model of the next word, where the paper takes away one for "
        "each further head; rotary positions, but the norms and activations of GPT-2",
        "decoding": "no self-speculative decoding with the further heads",
        "tokenizer": "whole words, not pieces of bytes",
    },
    data="code, and texts of the web",
    model=replace(tiny(GPT_2_SMALL), positions="rotary", mtp_num_layers=3),
    recipe=Recipe(seq_len=64, batch_size=16),
    objective=MULTI_TOKEN,
)
