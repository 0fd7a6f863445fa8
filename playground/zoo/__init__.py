"""The zoo: one file per paper, each a declaration of architecture, objective, corpus and recipe."""

from playground.zoo.entry import Entry, entries, entry_for, entry_named, entry_to_train, find_entry
from playground.zoo.phase import Phase
from playground.zoo.recipe import Recipe

__all__ = ["Entry", "Phase", "Recipe", "entries", "entry_for", "entry_named", "entry_to_train", "find_entry"]
