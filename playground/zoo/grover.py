"""Grover: a language model of news that is given where and when an article appeared."""

from playground.models import tiny
from playground.objectives.catalog.grover import ARTICLE_LM
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.gpt2 import GPT_2_SMALL, MEDIUM, XL
from playground.zoo.recipe import Recipe

GROVER = Entry(
    name="Grover",
    year=2019,
    paper="arXiv:1905.12616",
    idea="Write news from what is said about an article; who can write fakes is also the best at finding them.",
    parent="GPT-2",
    changed="Domain, date, authors and headline of an article are read before its text, or written themselves.",
    aliases=("Grover base", "Grover large", "Grover mega"),
    unlike_paper={
        "data": "generated stories represent news; a date is a year, and an article has one author and no summary",
        "network": "norms before each sub-layer; the released code has one before and one after each MLP and none "
        "before attention",
        "tasks": "no training to tell written texts from human ones",
        "tokenizer": "whole words, not pieces of bytes",
    },
    data="RealNews, news of 5,000 domains",
    published=(
        PublishedSize("Grover base", GPT_2_SMALL, 50_257, 124e6, "sec. 3.2, with GPT-2's architecture"),
        PublishedSize("Grover large", MEDIUM, 50_257, 355e6, "sec. 3.2, with GPT-2's architecture"),
        PublishedSize(
            "Grover mega", XL, 50_257, 1.55e9, "sec. 3.2 says 1.5 billion; counted with GPT-2's architecture"
        ),
    ),
    model=tiny(GPT_2_SMALL),
    recipe=Recipe(seq_len=96, batch_size=16),
    corpus="news",
    objective=ARTICLE_LM,
)
