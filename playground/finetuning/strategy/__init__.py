"""What a strategy is made of: what trains when, with which losses and rates, and what fits together."""
