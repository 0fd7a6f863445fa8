"""Charts, one file each: a pure function from a value to the columns of a figure, and the figure."""
