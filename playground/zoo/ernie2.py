"""ERNIE 2.0: more and more tasks on words and on texts, each added to those before."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives import find_objective
from playground.objectives.catalog.ernie import KNOWLEDGE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, Published
from playground.zoo.phase import Phase

THREE_DISTANCES = replace(BERT_BASE, labels=(("pair", 3),))

WHERE = "BERT's number, in the large size that of its released weights; BERT's architecture (sec. 5)"

ERNIE_2 = Entry(
    name="ERNIE 2.0",
    year=2019,
    paper="arXiv:1907.12412",
    idea="Add task after task on words, on the order of texts and on their meaning, and keep training the old ones.",
    parent="ERNIE",
    changed="Tasks on pairs of texts in addition to those on words, such as how far apart two sentences are.",
    aliases=("ERNIE 2.0 base", "ERNIE 2.0 large"),
    unlike_paper={
        "stages": "two stages, the second with one new task; the paper adds seven tasks one by one",
        "tasks": "hidden units and the distance of two sentences; without capital letters, words that come again in "
        "the document, sentences in a new order, relations of clauses (objective 'discourse relation') and queries",
        "network": "no embedding that tells the network its task",
    },
    data="encyclopedias, books, dialogues and pairs of clauses; in Chinese also news and queries with their results",
    published=(
        Published("ERNIE 2.0 base", THREE_DISTANCES, 30_522, 110e6, WHERE),
        Published("ERNIE 2.0 large", replace(THREE_DISTANCES, layers=24, width=1024, heads=16), 30_522, 336e6, WHERE),
    ),
    model=tiny(THREE_DISTANCES),
    objective=find_objective("knowledge masking + sentence distance"),
    phases=(
        Phase("words", 0.5, "Names, phrases and words are masked.", KNOWLEDGE),
        Phase("words and texts", 0.5, "Masking goes on, and the distance of two sentences is predicted too."),
    ),
)
