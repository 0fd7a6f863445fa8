"""Claims on pretraining."""
