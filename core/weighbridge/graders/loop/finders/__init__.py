"""Searches for loops in a history: each module finds one kind, and findings that overlap are merged."""
