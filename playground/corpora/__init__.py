"""What models read: worlds of our own with a known truth, and the user's own text."""

from playground.corpora.corpus import Corpus, pick
from playground.corpora.hub import read_hub
from playground.corpora.labelled import read_table
from playground.corpora.source import Source, open_corpus
from playground.corpora.table import Table, from_table
from playground.corpora.text import from_pasted, read_text_file
from playground.corpora.translations import read_translations
from playground.corpora.treebank import read_treebank

__all__ = [
    "Corpus",
    "Source",
    "Table",
    "from_pasted",
    "from_table",
    "open_corpus",
    "pick",
    "read_hub",
    "read_table",
    "read_text_file",
    "read_translations",
    "read_treebank",
]
