"""The cards, a file for each claim."""
