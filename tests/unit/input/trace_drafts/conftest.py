"""Drafts of mappings for small files, and the traces that they give."""

from __future__ import annotations

import pytest

from support.trace_drafts import Drafts


@pytest.fixture
def drafts(tmp_path):
    return Drafts(tmp_path)
