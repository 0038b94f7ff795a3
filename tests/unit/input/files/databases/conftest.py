"""A database that several tests read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.databases import SDK_ROWS, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sdk(tmp_path: Path) -> Path:
    """A store of OpenAI's Agents SDK with two sessions."""
    return write(tmp_path / "sessions.db", {"agent_messages": SDK_ROWS})
