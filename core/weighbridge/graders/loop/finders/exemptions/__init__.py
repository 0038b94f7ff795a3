"""Exemptions: what looks like a loop in the calls of an agent, and is none."""
