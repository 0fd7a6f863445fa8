"""Tensor functions that several stages share."""
