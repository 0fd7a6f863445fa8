"""GPT-3: a language model so large that a few examples in its text are enough to teach it a task."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.lm import LM
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.gpt2 import GPT_2_SMALL
from playground.zoo.recipe import Recipe

GPT_3_SMALL = replace(GPT_2_SMALL, max_position_embeddings=2048, attention_window=256)
"""Sec. 2.1; the paper does not give the width of its bands, so this is that of GPT-Neo, its reproduction."""
LARGEST = replace(GPT_3_SMALL, layers=96, width=12_288, heads=96)

GPT_3 = Entry(
    name="GPT-3",
    year=2020,
    paper="arXiv:2005.14165",
    idea="Show a very large language model a few examples of a task in its text; it does the task without training.",
    parent="GPT-2",
    changed="A hundred times larger, and every second layer attends to nearby words only.",
    aliases=("GPT-3 175B", "GPT-3 small"),
    unlike_paper={
        "network": "the paper gives no width of its bands; here every second layer sees 16 positions",
        "data": "documents that each give their code words a meaning once and then use it, so that it can only be "
        "learned from the text itself; the paper finds such patterns in texts of every kind",
        "tokenizer": "whole words, not pieces of bytes",
    },
    data="Common Crawl filtered, WebText, books and English Wikipedia",
    published=(
        PublishedSize("GPT-3 175B", LARGEST, 50_257, 175e9, "table 2.1"),
        PublishedSize("GPT-3 small", GPT_3_SMALL, 50_257, 125e6, "table 2.1"),
    ),
    published_recipe={"adam_beta2": 0.95, "weight_decay": 0.1},  # app. B
    model=tiny(GPT_3_SMALL, attention_window=16),
    recipe=Recipe(seq_len=128, batch_size=8),
    corpus="symbols",
    objective=LM,
)
