"""Checkpoints: nothing goes from the server that the disk does not have, and nothing goes chunk by chunk."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from weighbridge_producer.client.collector import ChunkPage
from weighbridge_producer.run.checkpoints import Checkpoints
from weighbridge_producer.run.result_file import GrowingFile
from weighbridge_producer.run.run_folder import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def state(tmp_path: Path) -> RunState:
    """The state of a run in progress."""
    return RunState.begin(tmp_path / "state", {}, resumable=True)


def page(number: int, start: int, end: int) -> ChunkPage:
    lines = b"".join(b'{"line":%d}\n' % line for line in range(start, end))
    return ChunkPage(lines, f"0/{number}-1/{number}", str(number), start, end)


def fail(error: BaseException) -> None:
    raise error


def test_chunks_are_freed_together_after_results_and_state_are_written(
    state: RunState, tmp_path: Path
) -> None:
    results = GrowingFile(tmp_path / "results")
    freed: list[tuple[Sequence[str], dict[str, Any], int]] = []

    def free(chunks: Sequence[str]) -> None:
        saved = json.loads((state.folder / "run.json").read_bytes())["collected"]
        freed.append((chunks, saved, results.path.stat().st_size))

    pages = [page(1, 1, 11), page(2, 21, 31), page(3, 11, 21)]
    with Checkpoints(state, results, free, fail) as checkpoints:
        for one in pages:
            checkpoints.add(one)
    results.close()
    size = sum(len(one.lines) for one in pages)
    assert [chunk for chunks, _, _ in freed for chunk in chunks] == ["1", "2", "3"]
    *_, (_, saved, held) = freed
    assert held == saved["written_bytes"] == size
    assert (saved["rows"], saved["delivered"], saved["cursor"]) == (30, [[1, 31]], "0/3-1/3")
    assert len(freed) < len(pages)


def test_a_checkpoint_is_made_while_more_results_are_waited_for(
    state: RunState, tmp_path: Path
) -> None:
    results = GrowingFile(tmp_path / "results")
    was_freed = threading.Event()
    with Checkpoints(state, results, lambda _: was_freed.set(), fail) as checkpoints:
        checkpoints.add(page(1, 1, 11))
        assert was_freed.wait(10)
        assert state.collected.rows == 10
    results.close()


def test_a_checkpoint_that_fails_frees_nothing_and_is_reported(
    state: RunState, tmp_path: Path
) -> None:
    results = GrowingFile(tmp_path / "results")
    failed = threading.Event()
    freed: list[Sequence[str]] = []
    checkpoints = Checkpoints(state, results, freed.append, lambda _: failed.set())
    with checkpoints:
        checkpoints.add(page(1, 1, 11))
        results.close()
        assert failed.wait(10)
    assert freed == []


def test_a_run_that_goes_on_adds_to_what_was_collected_before(
    state: RunState, tmp_path: Path
) -> None:
    path = tmp_path / "results"
    for one in (page(1, 1, 11), page(2, 11, 21)):
        results = GrowingFile(path, keep_bytes=state.collected.written_bytes)
        with Checkpoints(state, results, lambda _: None, fail) as checkpoints:
            checkpoints.add(one)
        results.close()
    assert state.collected.rows == 20
    assert state.collected.delivered == ((1, 21),)
    assert state.collected.written_bytes == path.stat().st_size
