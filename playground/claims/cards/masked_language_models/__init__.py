"""Claims: masked language models."""
