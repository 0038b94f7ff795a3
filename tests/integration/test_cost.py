"""The number of server commands per chunk, counted on a real server with a real worker."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from support.cases import true_false_cases, write_cases
from support.waiting import eventually
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

COMMANDS_A_CHUNK = 28
#: Heartbeats, sweeps and the polling of children that wait, which take their time whatever the number of chunks.
COMMANDS_A_SECOND = 40


def test_a_chunk_takes_few_commands_from_its_submission_to_its_collection(
    own_server: EmbeddedServer,
    start_worker: StartWorker,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(20_000))
    start_worker(own_server.url, 2)
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=200)) as client:
        warm = client.submit(true_false_cases(100))
        warm.wait(30)
        redis = client.store.redis
        redis.config_resetstat()
        started = client.store.now()
        batch = client.submit(cases)
        lines = sum(page.lines.count(b"\n") for page in batch.pages())
        used = commands(redis)
        seconds = client.store.now() - started
        chunks = batch.status().chunks
        assert lines == 20_000
        assert chunks >= 50
        a_chunk = used.total() / chunks
        record_property("commands_a_chunk", round(a_chunk, 1))
        print(f"{a_chunk:.1f} commands a chunk in {seconds:.1f} s: {used.most_common()}")
        assert used.total() <= COMMANDS_A_CHUNK * chunks + COMMANDS_A_SECOND * seconds


def test_a_worker_that_has_nothing_to_do_asks_little_of_the_server(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    start_worker(own_server.url, 2)
    with RedisClient(own_server.url) as client:
        client.submit(true_false_cases(100)).wait(30)
        redis = client.store.redis
        redis.config_resetstat()
        started = client.store.now()
        eventually(lambda: client.store.now() - started > 5, 20)
        used = commands(redis)
        del used["time"]  # asked by this test
        seconds = client.store.now() - started
        print(f"{used.total() / seconds:.1f} commands a second: {used.most_common()}")
        assert used.total() / seconds <= COMMANDS_A_SECOND


def commands(redis: Any) -> Counter[str]:
    """Return how often each command was called, those of scripts too."""
    stats = redis.info("commandstats")
    return Counter({name.removeprefix("cmdstat_"): row["calls"] for name, row in stats.items()})
