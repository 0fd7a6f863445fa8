"""Claims on masked."""
