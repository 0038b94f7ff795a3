"""What tests of input change in the whole process, and set back."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _limit_of_fields() -> Iterator[None]:
    """Set csv's limit on the size of fields back, which readers of tables set to their limit on the size of lines."""
    limit = csv.field_size_limit()
    yield
    csv.field_size_limit(limit)
