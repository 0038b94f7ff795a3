"""Cutting input into chunks and submitting them as a batch."""
