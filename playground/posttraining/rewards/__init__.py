"""The rewards of the catalogue."""
