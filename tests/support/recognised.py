"""The cases of files whose mapping is recognised, as a command reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.cli.mapping_choice import choose_mapping
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

GRADERS = [GraderSpec("string-match")]


def recognised(*paths: Path) -> Source:
    """Return the source of files of a known tool."""
    mapping, _ = choose_mapping(
        Paths.of(paths), GRADERS, Settings(), texts=(), saved=None, joins=()
    )
    assert mapping is not None
    return Source(Paths.of(paths), Settings(), mapping)


def ids(source: Source) -> list[Any]:
    """Return the ids of the cases of a source."""
    return [orjson.loads(line.raw)["custom_id"] for line in source if line.raw.strip()]
