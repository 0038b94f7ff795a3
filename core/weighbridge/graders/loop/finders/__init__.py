"""Searches for loops in a history: each module finds them by one rule or a few, and findings that overlap are merged."""
