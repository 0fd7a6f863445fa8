"""The faults, a file each."""
