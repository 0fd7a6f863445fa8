"""Claims: compression."""
