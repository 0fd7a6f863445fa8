"""Claims on sequence to sequence."""
