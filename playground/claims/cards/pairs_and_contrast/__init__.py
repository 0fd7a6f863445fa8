"""Claims on pairs and contrast."""
