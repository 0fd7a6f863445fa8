"""ERNIE (Baidu): hide whole phrases and whole names, so that knowledge must bring them back."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.ernie import ENTITIES, PHRASES
from playground.objectives.catalog.mlm import MLM
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.phase import Phase

ERNIE_BASE = replace(BERT_BASE, activation="relu", max_position_embeddings=513)
"""BERT with the activation and the positions of the released code."""

ERNIE = Entry(
    name="ERNIE",
    year=2019,
    paper="arXiv:1904.09223",
    idea="Hide a name or a phrase as a whole, so that its other words cannot give it away.",
    parent="BERT",
    changed="Words are hidden together in units of meaning: a word, a phrase or a name.",
    aliases=("ERNIE (Baidu)", "ERNIE 1.0"),
    unlike_paper={
        "stages": "the three stages have the same length; the paper gives no lengths",
        "segments": "one text at a time, so no [CLS], no [SEP] and no segments",
        "next sentence prediction": "no dialogues, for which the paper tells real answers from random ones",
    },
    data="Chinese Wikipedia, Baidu Baike, Baidu news and dialogues of Baidu Tieba",
    published=(PublishedSize("ERNIE 1.0", ERNIE_BASE, 18_000, 100e6, "released weights; the paper states no number"),),
    model=tiny(ERNIE_BASE, segments=0, labels=()),
    objective=ENTITIES,
    phases=(
        Phase("basic level", 1 / 3, "Single words are masked.", MLM),
        Phase("phrase level", 1 / 3, "Whole phrases are masked.", PHRASES),
        Phase("entity level", 1 / 3, "Whole names are masked."),
    ),
)
