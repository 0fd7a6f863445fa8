"""The families of published models that folders are written for and read from, one file each."""
