"""The real command line for every acceptance test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.cli import Cli
from support.unhurried import write_unhurried

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """The command line in this test's own folder, with its own state; nothing of it outlives the test."""
    cli = Cli(tmp_path, preloaded=True)
    yield cli
    cli.clean_up()


@pytest.fixture
def many(cli: Cli, tmp_path: Path) -> Path:
    """A file of cases that take so long that a run can be met in the middle."""
    return write_unhurried(cli, tmp_path / "many.jsonl")
