"""The Transfer page."""
