"""The messages that wake workers."""
