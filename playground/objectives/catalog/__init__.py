"""The named objectives, one file each."""
