"""Claims: languages."""
