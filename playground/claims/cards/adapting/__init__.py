"""Claims on adapting."""
