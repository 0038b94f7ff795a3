"""The roles of chat messages."""

from __future__ import annotations

ROLES = frozenset({"system", "developer", "user", "assistant", "model", "tool", "function"})
RESULT_ROLES = frozenset({"tool", "function"})  #: roles of messages with results of calls
MODEL_ROLES = frozenset({"assistant", "model"})  #: roles of a model's messages
