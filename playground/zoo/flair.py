"""flair: two language models of characters, whose states at the ends of a word stand for the word."""

from playground.models import Architecture
from playground.objectives.catalog.elmo import BILM
from playground.zoo.entry import Entry
from playground.zoo.recipe import Recipe

FLAIR = Entry(
    name="flair",
    year=2018,
    paper="Akbik et al. 2018, COLING",
    idea="Two LSTMs read characters from either side; the state of each after it has read a word represents that word.",
    parent="TagLM",
    changed="Text is read by characters, without any words; a word is represented by the states at its two ends.",
    corpus="world(tokenizer=characters)",
    aliases=("contextual string embeddings",),
    unlike_paper={
        "network": "both directions share the vectors of the characters and the scores of the next one; and there are "
        "no spaces; the characters themselves mark where a word begins",
    },
    data="1 Billion Word Benchmark; for German half a billion words of the web",
    model=Architecture(kind="lstm", layers=1, backward=True, word_states=True, attention="left to right"),
    objective=BILM,
    recipe=Recipe(seq_len=128),
)
