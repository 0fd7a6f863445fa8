"""Looking inside a model without changing it."""
