"""A private Redis-compatible server for one process and its children."""
