"""The zoo: one file per paper, each a declaration of architecture, objective, corpus and recipe."""

from playground.zoo.entry import Entry, entries, find_entry
from playground.zoo.recipe import Recipe

__all__ = ["Entry", "Recipe", "entries", "find_entry"]
