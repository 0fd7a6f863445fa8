"""ERNIE 2.0: more and more tasks on words and on texts, each added to those before."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.ernie2 import CONTINUAL, DISTANCES, TASKS, first_tasks
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.phase import Phase

THREE_DISTANCES = replace(BERT_BASE, labels=(("pair", 3),), label_embeddings=(("task", 7),))

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
        "stages": "five stages of the same length, each with one more task",
        "tasks": "without relations of clauses (objective 'discourse relation') and without queries, which no corpus "
        "here has; a segment that occurs again or is cut out is a sentence",
        "batches": "each batch trains one task; the paper adds the losses of words to that of a sentence",
    },
    data="encyclopedias, books, dialogues and pairs of clauses; in Chinese also news and queries with their results",
    published=(
        PublishedSize("ERNIE 2.0 base", THREE_DISTANCES, 30_522, 110e6, WHERE),
        PublishedSize(
            "ERNIE 2.0 large", replace(THREE_DISTANCES, layers=24, width=1024, heads=16), 30_522, 336e6, WHERE
        ),
    ),
    model=tiny(
        THREE_DISTANCES,
        labels=(("capitalized", 2), ("recurring", 2), ("order", 9), ("pair", len(DISTANCES))),
        label_embeddings=(("task", len(TASKS)),),
    ),
    objective=CONTINUAL,
    phases=(
        Phase("knowledge masking", 0.2, "Names, phrases and words are masked.", first_tasks("one task", 1)),
        Phase("capitalization", 0.2, "Capital letters are predicted too.", first_tasks("two tasks", 2)),
        Phase(
            "token-document relation", 0.2, "Words that occur again are predicted too.", first_tasks("three tasks", 3)
        ),
        Phase("sentence reordering", 0.2, "The order of segments is predicted too.", first_tasks("four tasks", 4)),
        Phase("sentence distance", 0.2, "How far apart two sentences are is predicted too."),
    ),
)
