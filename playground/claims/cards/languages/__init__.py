"""Claims on languages."""
