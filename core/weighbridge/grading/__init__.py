"""Grading one line of a batch: the line in, its result lines out. No queue, no store."""
