"""Traces as input: the case of each, and mappings of traces in the user's own format."""
