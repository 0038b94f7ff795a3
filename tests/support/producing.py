"""A producer in a process of its own, forked from one with the code imported."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from support.preloaded import ForkedProcess
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def main() -> None:
    """Submit the cases in a file."""
    with RedisClient() as client:
        client.submit(Path(sys.argv[1]))


@contextmanager
def submitting(
    cases: Path, environment: Mapping[str, str], folder: Path
) -> Iterator[ForkedProcess]:
    """Submit the cases in a file until the end of the block, where the producer is killed."""
    output = folder / "producer.out", folder / "producer.err"
    process = ForkedProcess(f"{__name__}:main", [str(cases)], environment, folder, output)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)
