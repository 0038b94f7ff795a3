"""The HTTP service: the API and what every request goes through."""
