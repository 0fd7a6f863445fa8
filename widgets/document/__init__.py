"""A document of a corpus with its annotations: what is drawn, and the drawing."""
