"""The corpora, one file each: found here, never registered."""
