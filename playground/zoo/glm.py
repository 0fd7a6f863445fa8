"""GLM: one network that reads a text with blanks from both sides and fills the blanks from left to right."""

from playground.models import Architecture
from playground.objectives.catalog.glm import GLM as BLANK_INFILLING
from playground.zoo.entry import Entry

GLM = Entry(
    name="GLM",
    year=2021,
    paper="arXiv:2103.10360",
    idea="Replace spans by blanks and write them after the text; one network understands and generates.",
    parent="BERT",
    changed="A blank stands for a whole span, and the spans are written word by word. A second position counts the "
    "words of a span.",
    unlike_paper={
        "stages": "blanks of a few words alone; the paper's models for several tasks also fill one long span or "
        "whole sentences",
        "special tokens": "no [CLS] before a text",
        "batches": "the last span of a row is cut so that the share of hidden words is exact",
        "tokenizer": "whole words, not pieces of words",
    },
    data="BooksCorpus and English Wikipedia",
    model=Architecture(positions="learned", second_positions="added", attention_bias=True),
    objective=BLANK_INFILLING,
)
