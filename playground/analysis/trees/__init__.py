"""Syntax trees in the geometry of states and in attention, against the gold trees of the corpus."""
