"""The zoo as markup: its tables, its timeline, and the card of an entry with the diagram of its model."""
