"""What models read: worlds of our own with a known truth, and the user's own text."""

from playground.corpora.corpus import Corpus, pick
from playground.corpora.source import Source, open_corpus
from playground.corpora.text import from_pasted, read_text_file

__all__ = ["Corpus", "Source", "from_pasted", "open_corpus", "pick", "read_text_file"]
