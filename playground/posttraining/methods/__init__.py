"""The methods of post-training of the catalogue."""
