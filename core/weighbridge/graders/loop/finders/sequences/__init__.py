"""Sequences in which finders look for loops: cycles, stretches of what is known, related attempts, and lists."""
