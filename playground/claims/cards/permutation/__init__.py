"""Claims on permutation."""
