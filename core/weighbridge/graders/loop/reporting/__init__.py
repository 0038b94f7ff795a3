"""Loops as they are reported: their kind in words, their differences and their severity, in a result with evidence."""
