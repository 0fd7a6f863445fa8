"""The probing tasks, found by the catalogue."""
