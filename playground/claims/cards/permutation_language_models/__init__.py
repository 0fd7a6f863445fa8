"""Claims: permutation language models."""
