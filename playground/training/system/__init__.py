"""Threads, memory limits of the system, and the share of processor time that looks may take."""
