"""GPT-2: a larger GPT on texts of the web, asked to do tasks without any training on them."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.lm import LM
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.gpt import GPT_117M
from playground.zoo.recipe import Recipe

GPT_2_SMALL = replace(GPT_117M, max_position_embeddings=1024, norm_first=True, init="scaled")
"""Norms before the sub-layers and one after the last, and smaller first weights with depth (sec. 2.3)."""

MEDIUM = replace(GPT_2_SMALL, layers=24, width=1024, heads=16)
LARGE = replace(GPT_2_SMALL, layers=36, width=1280, heads=20)
XL = replace(GPT_2_SMALL, layers=48, width=1600, heads=25)

GPT_2 = Entry(
    name="GPT-2",
    year=2019,
    paper="Radford et al. 2019, Language models are unsupervised multitask learners",
    idea="A language model that has read enough of the web can do tasks that it is only asked to do in words.",
    parent="GPT",
    changed="More layers, far more text in rows twice as long, norms before each sub-layer, and no fine-tuning at all.",
    aliases=("GPT-2 small", "GPT-2 medium", "GPT-2 large", "GPT-2 XL"),
    unlike_paper={"tokenizer": "whole words, not pieces of bytes"},
    data="WebText, pages that users of Reddit recommended",
    printed={"objective": "LM", "task": "LM", "FT": "no"},
    published=(
        PublishedSize("GPT-2 small", GPT_2_SMALL, 50_257, 124e6, "released weights; the paper's table 2 says 117M"),
        PublishedSize("GPT-2 medium", MEDIUM, 50_257, 355e6, "released weights; the paper's table 2 says 345M"),
        PublishedSize("GPT-2 large", LARGE, 50_257, 774e6, "released weights; the paper's table 2 says 762M"),
        PublishedSize("GPT-2 XL", XL, 50_257, 1558e6, "released weights; the paper's table 2 says 1542M"),
    ),
    model=tiny(GPT_2_SMALL),
    recipe=Recipe(seq_len=64, batch_size=16),
    objective=LM,
)
