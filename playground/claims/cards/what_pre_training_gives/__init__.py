"""Claims: what pre training gives."""
