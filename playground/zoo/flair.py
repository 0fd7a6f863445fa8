"""flair: two language models of characters, whose states at the ends of a word stand for the word."""

from playground.models import Architecture
from playground.objectives.catalog.elmo import BILM
from playground.zoo.entry import Entry
from playground.zoo.recipe import Recipe

FLAIR = Entry(
    name="flair",
    year=2018,
    paper="Akbik et al. 2018, COLING",
    idea="Two LSTMs read characters from either side; where each has just read a word, its state stands for it.",
    parent="TagLM",
    changed="Text is read by characters, without any words; a word is the states at its two ends.",
    corpus="world(tokenizer=characters)",
    aliases=("contextual string embeddings",),
    unlike_paper={
        "network": "both directions share the vectors of the characters and the scores of the next one; and there are "
        "no spaces, a character says itself whether it begins a word",
    },
    data="1 Billion Word Benchmark; for German half a billion words of the web",
    model=Architecture(kind="lstm", layers=1, backward=True, word_states=True, attention="left to right"),
    objective=BILM,
    recipe=Recipe(seq_len=128),
)
