"""Claims on static and contextual."""
