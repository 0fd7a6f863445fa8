"""Claims on direction and architecture."""
