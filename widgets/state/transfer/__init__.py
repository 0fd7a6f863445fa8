"""What the Transfer page knows and does."""
