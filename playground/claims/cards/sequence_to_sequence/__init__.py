"""Claims: sequence to sequence."""
