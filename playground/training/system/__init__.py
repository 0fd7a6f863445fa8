"""Threads, memory limits of the system, and limits of the time that work beside training takes."""
