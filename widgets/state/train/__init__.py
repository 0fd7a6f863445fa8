"""What the Train page knows and does."""
