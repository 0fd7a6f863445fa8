"""The kinds of corpora that TinyWorld can write, one file each."""
