"""Claims: direction and architecture."""
