"""Threads, turns on a shared machine, and a budget of time for what is done between steps."""
