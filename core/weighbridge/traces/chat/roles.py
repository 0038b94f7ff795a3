"""The roles of chat messages."""

from __future__ import annotations

ROLES = frozenset({"system", "developer", "user", "assistant", "model", "tool", "function"})
MODEL_ROLES = frozenset({"assistant", "model"})  #: roles of a model's messages
