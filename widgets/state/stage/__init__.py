"""What the Stage page knows and does."""
