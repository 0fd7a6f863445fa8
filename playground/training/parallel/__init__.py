"""Several seeds at once: stacked in one model, or in processes of their own."""
