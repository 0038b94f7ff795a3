"""Limits on work, memory, rates and connections, and on the validity of keys during a request."""
