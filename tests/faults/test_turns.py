"""Turns of batches: no batch has to wait for another one or for a lost message."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from faults.aimed import (
    assert_judged_right,
    cases_of,
    hazard,
    plain,
    submit_busy_batch,
    url_of,
    wait_for_end,
)
from faults.workload import Plan
from weighbridge_producer import Client

if TYPE_CHECKING:
    from pathlib import Path

    from faults.conftest import StartLinked
    from faults.store_server import StoreServer
    from support.cli import Cli


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the clients of a test submit chunks of 4 jobs."""
    monkeypatch.setenv("WEIGHBRIDGE_CHUNK_LIMIT_JOBS", "4")


@pytest.mark.usefixtures("small_chunks")
def test_a_lost_message_costs_little_while_the_queue_is_busy(
    store_server: StoreServer, start_linked: StartLinked
) -> None:
    start_linked(1)
    plan = plain(Plan("lost message", "aimed"), 10)
    with Client(url_of(store_server)) as client, store_server.admin() as admin:
        busy = submit_busy_batch(client, 400, 0.2)
        before = set(admin.lrange("weighbridge", 0, -1))
        batch = client.submit(cases_of(plan))
        for message in set(admin.lrange("weighbridge", 0, -1)) - before:
            admin.lrem("weighbridge", 0, message)
        wait_for_end(batch, 25)
        assert busy.status().counts.pending
        assert_judged_right(plan, batch)
        busy.cancel()


def test_a_small_batch_does_not_wait_for_a_large_one(
    store_server: StoreServer, start_linked: StartLinked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_CHUNK_LIMIT_JOBS", "10")
    start_linked(2)
    plan = plain(Plan("small", "aimed"), 10)
    with Client(url_of(store_server)) as client:
        large = submit_busy_batch(client, 2_000, 0.03)
        submitted_at = time.monotonic()
        batch = client.submit(cases_of(plan))
        wait_for_end(batch, 20)
        print(f"done after {time.monotonic() - submitted_at:.2f} s")
        assert large.status().counts.pending
        assert_judged_right(plan, batch)
        large.cancel()


@pytest.mark.long
@pytest.mark.usefixtures("small_chunks")
def test_what_is_urgent_is_done_before_what_is_not(
    store_server: StoreServer, start_linked: StartLinked, cli: Cli, tmp_path: Path
) -> None:
    plan = Plan("urgent", "aimed")
    for _ in range(200):
        hazard(plan, "sleeps", "pass", "0.03")
    path = plan.write(tmp_path)
    url = url_of(store_server)
    with Client(url) as client:
        batches = {}
        for priority in ("low", "normal", "high"):
            told = cli("submit", path, "--priority", priority, redis_url=url, chunk_limit_jobs=4)
            assert told.status == 0, told.err
            batches[priority] = client.batch(told.out.strip())
        start_linked(1)
        wait_for_end(batches["high"], 60)
        graded = {name: batch.status().counts.graded for name, batch in batches.items()}
        print(graded)
        assert graded["low"] < graded["normal"] < graded["high"] == 200
        for batch in batches.values():
            batch.cancel()
