"""What models read: worlds of our own with a known truth, and the user's own text."""

from playground.corpora.corpus import Corpus, pick
from playground.corpora.readers.hub import read_hub
from playground.corpora.readers.labelled_table import read_table
from playground.corpora.readers.table import Table, from_table
from playground.corpora.readers.text import from_pasted, read_text_file
from playground.corpora.readers.translations import read_translations
from playground.corpora.readers.treebank import read_treebank
from playground.corpora.sources import Source, open_corpus

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
