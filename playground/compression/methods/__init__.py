"""The compression methods, one file each, found by the catalogue."""
