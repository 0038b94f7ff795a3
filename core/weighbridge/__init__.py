"""Weighbridge grades AI-agent outputs and traces in bulk, with evidence for every verdict."""
