"""Claims: adapting."""
