"""A document of a corpus with its annotations."""
