"""Labelled texts and questions about TinyWorld, for fine-tuning and for measuring; one kind in each file."""

from playground.corpora.tinyworld.tasks.analogies import analogy_grids, analogy_questions
from playground.corpora.tinyworld.tasks.cloze import fact_questions
from playground.corpora.tinyworld.tasks.connectives import connective_sentences
from playground.corpora.tinyworld.tasks.endings import story_endings
from playground.corpora.tinyworld.tasks.inference import INFERENCES, inference_pairs
from playground.corpora.tinyworld.tasks.minimal import minimal_pairs
from playground.corpora.tinyworld.tasks.polarity import polarity_sentences
from playground.corpora.tinyworld.tasks.questions import reading_passages
from playground.corpora.tinyworld.tasks.roles import role_pairs
from playground.corpora.tinyworld.tasks.senses import sense_sentences
from playground.corpora.tinyworld.tasks.shortcuts import shortcut_sentences
from playground.corpora.tinyworld.tasks.similarity import paraphrase_pairs, similarity_pairs
from playground.corpora.tinyworld.tasks.typos import mistyped_sentences

__all__ = [
    "INFERENCES",
    "analogy_grids",
    "analogy_questions",
    "connective_sentences",
    "fact_questions",
    "inference_pairs",
    "minimal_pairs",
    "mistyped_sentences",
    "paraphrase_pairs",
    "polarity_sentences",
    "reading_passages",
    "role_pairs",
    "sense_sentences",
    "shortcut_sentences",
    "similarity_pairs",
    "story_endings",
]
