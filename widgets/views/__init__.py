"""Views: one file per picture, pure functions from a value to the columns of a figure."""
