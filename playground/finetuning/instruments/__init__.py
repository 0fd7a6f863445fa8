"""Instruments that fine-tune or train copies of the model, found by the catalogue."""
