"""Lists to choose from, as light components."""
