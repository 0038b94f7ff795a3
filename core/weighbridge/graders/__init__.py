"""Deterministic judges of agent outputs and traces."""
