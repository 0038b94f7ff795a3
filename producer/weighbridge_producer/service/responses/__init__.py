"""Streams and large responses, in constant memory."""
