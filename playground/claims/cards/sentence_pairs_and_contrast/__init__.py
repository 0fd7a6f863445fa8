"""Claims: sentence pairs and contrast."""
