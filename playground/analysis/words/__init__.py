"""Words as vectors: neighbours, analogies, senses, and how much a vector depends on its context."""
