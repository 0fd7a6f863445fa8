"""Runs on disk: their folders, metrics and locks."""
