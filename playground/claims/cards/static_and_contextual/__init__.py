"""Claims: static and contextual."""
