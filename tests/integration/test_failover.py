"""A primary is demoted while connections to it stay open: all clients continue with the new primary by themselves."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from support import requests
from support.cases import (
    assert_graded_right,
    results_by_id,
    sleepy_cases,
    true_false_cases,
    write_cases,
)
from support.grading import grade_open_chunks
from support.http import HttpServer
from support.producing import submitting
from support.proxy import Proxy
from support.servers import ReplicaPair
from support.uploads import lines_of, upload
from support.waiting import eventually
from support.workers import environment
from weighbridge.broker.publisher import Publisher
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import Settings
from weighbridge.store.connection import connect
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from redis import Redis

    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Batch

RECOVERY_SECONDS = 20.0
SLOW_JOBS = 80


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[ReplicaPair]:
    with ReplicaPair(tmp_path) as pair:
        yield pair


@pytest.fixture
def proxy(pair: ReplicaPair) -> Iterator[Proxy]:
    with Proxy(pair.primary.port) as proxy:
        yield proxy


def fail_over(pair: ReplicaPair, proxy: Proxy) -> None:
    """Exchange primary and replica, and lead new connections to the new primary; the old ones stay open."""
    pair.fail_over()
    proxy.target = pair.primary.port


def is_completed(batch: Batch, count: int) -> None:
    assert batch.status().status == BatchStatus.COMPLETED
    assert len(results_by_id(batch)) == count
    assert batch.status().counts.passed == count


def test_a_client_that_writes_to_a_demoted_primary_connects_again(
    pair: ReplicaPair, proxy: Proxy
) -> None:
    client = connect(proxy.url, retry=False)
    client.set("before", 1)
    fail_over(pair, proxy)
    client.set("after", 1)
    with pair.primary.client() as primary:
        assert set(primary.keys()) == {b"before", b"after"}
    client.close()


@pytest.mark.parametrize("how", ["pipeline", "transaction", "script"])
def test_whatever_a_client_writes_by_reaches_the_new_primary(
    pair: ReplicaPair, proxy: Proxy, how: str
) -> None:
    client = connect(proxy.url, retry=False)
    script = client.register_script("return redis.call('SET', KEYS[1], 1)")
    script(keys=["before"])
    fail_over(pair, proxy)
    if how == "script":
        script(keys=["after"])
    else:
        with client.pipeline(transaction=how == "transaction") as pipe:
            pipe.get("before")
            pipe.set("after", 1)
            assert pipe.execute() == [b"1", True]
    with pair.primary.client() as primary:
        assert primary.exists("after")
    client.close()


def test_a_read_that_waits_for_news_goes_on_at_the_new_primary(
    pair: ReplicaPair, proxy: Proxy
) -> None:
    client = connect(proxy.url)
    heard: list[object] = []
    reader = threading.Thread(
        target=lambda: heard.append(client.xread({"log": "0"}, block=20_000)), daemon=True
    )
    reader.start()
    with pair.primary.client() as primary:
        eventually(lambda: primary.info("clients")["blocked_clients"], 10, "the waiting read")
    fail_over(pair, proxy)
    with pair.primary.client() as primary:
        primary.xadd("log", {"chunk": "1"})
    reader.join(10)
    assert heard
    assert heard[0]
    client.close()


@pytest.mark.parametrize("how", [Proxy.cut, Proxy.half_close])
def test_a_connection_that_breaks_is_opened_again(
    proxy: Proxy, how: Callable[[Proxy], None]
) -> None:
    client = connect(proxy.url, retry=False)
    client.set("before", 1)
    how(proxy)
    assert client.get("before") == b"1"
    client.close()


def test_a_command_whose_reply_is_lost_is_sent_again(pair: ReplicaPair, proxy: Proxy) -> None:
    client = connect(proxy.url)
    client.ping()
    proxy.drops_replies = True
    replies: list[object] = []
    writer = threading.Thread(target=lambda: replies.append(client.set("written", 1)), daemon=True)
    writer.start()
    with pair.primary.client() as primary:
        eventually(lambda: primary.exists("written"), 10, "the write")
    proxy.drops_replies = False
    proxy.cut()
    writer.join(10)
    assert replies == [True]
    client.close()


@pytest.mark.slow
def test_after_an_orderly_failover_workers_finish_the_batch_and_take_the_next(
    pair: ReplicaPair, proxy: Proxy, start_worker: StartWorker
) -> None:
    worker = start_worker(proxy.url)
    children = {child.pid for child in worker.await_children(2)}
    with RedisClient(proxy.url) as client:
        batch = client.submit(sleepy_cases(SLOW_JOBS, 0.05))
        eventually(lambda: batch.status().counts.finished, 30, "the first results")
        fail_over(pair, proxy)
        batch.wait(RECOVERY_SECONDS)
        is_completed(batch, SLOW_JOBS)
        after = client.submit(true_false_cases(50))
        after.wait(RECOVERY_SECONDS)
        assert_graded_right(results_by_id(after), 50)
    assert worker.info() is not None
    assert {child.pid for child in worker.children()} == children


@pytest.mark.slow
def test_an_idle_worker_hears_of_work_after_a_failover(
    pair: ReplicaPair, proxy: Proxy, start_worker: StartWorker
) -> None:
    worker = start_worker(proxy.url)
    worker.await_children(2)
    with pair.primary.client() as primary:
        eventually(lambda: primary.info("clients")["blocked_clients"], 20, "the waiting worker")
    fail_over(pair, proxy)
    with RedisClient(proxy.url) as client:
        batch = client.submit(true_false_cases(50))
        batch.wait(RECOVERY_SECONDS)
        assert_graded_right(results_by_id(batch), 50)


@pytest.mark.slow
def test_a_producer_goes_on_after_a_failover_in_the_middle_of_its_input(
    pair: ReplicaPair, proxy: Proxy, start_worker: StartWorker, tmp_path: Path
) -> None:
    start_worker(proxy.url)
    cases = write_cases(tmp_path / "cases.jsonl", sleepy_cases(200, 0.05))
    env = environment(proxy.url, chunk_limit_jobs=1)
    with (
        RedisClient(proxy.url) as client,
        submitting(cases, env, tmp_path) as producer,
    ):
        batch = client.batch(eventually(client.batches, 30, "the batch")[0].batch_id)
        eventually(lambda: client.store.position(batch.id).chunks >= 20, 30)
        assert not client.store.position(batch.id).sealed
        fail_over(pair, proxy)
        assert producer.wait(60) == 0
        batch.wait(60)
        is_completed(batch, 200)


def test_a_message_waits_until_the_address_leads_to_the_new_primary(
    pair: ReplicaPair, proxy: Proxy
) -> None:
    publisher = Publisher(Settings(), proxy.url)
    publisher.wake()
    pair.fail_over()
    with pair.replica.client() as demoted, pair.primary.client() as primary:
        demoted.config_resetstat()
        waking = threading.Thread(target=publisher.wake, daemon=True)
        waking.start()
        # As many attempts as fail within milliseconds if nothing waits between them.
        eventually(lambda: _refused_writes(demoted) >= 15, 20, "refused messages")
        proxy.target = pair.primary.port
        waking.join(20)
        assert not waking.is_alive()
        assert primary.llen(publisher.queue) == 2
    publisher.close()


def _refused_writes(server: Redis) -> int:
    return int(server.info("errorstats").get("errorstat_READONLY", {"count": 0})["count"])


@pytest.mark.parametrize("follow", [True, False])
def test_a_collector_misses_nothing_though_its_connections_lead_to_two_servers(
    pair: ReplicaPair, proxy: Proxy, *, follow: bool
) -> None:
    """The log is read from the new primary, and results over a connection that stayed at the old one, which lags."""
    settings = Settings(chunk_limit_jobs=10)
    with (
        RedisClient(proxy.url, settings=settings) as reader,
        RedisClient(proxy.url, settings=settings) as writer,
    ):
        batch = writer.submit(true_false_cases(30))
        lines = reader.batch(batch.id)
        assert lines.status().counts.pending == 30
        fail_over(pair, proxy)
        with pair.replica.client() as demoted:
            demoted.execute_command("REPLICAOF", "127.0.0.1", "1")  # a port without a server
        grade_open_chunks(writer.store, batch.id, most=None if follow else 1)
        collected = list(lines.pages(follow=follow))
        if not follow:
            assert sum(page.lines.count(b"\n") for page in collected) == 10
            grade_open_chunks(writer.store, batch.id)
            collected += lines.pages(collected[-1].cursor)
        assert sum(page.lines.count(b"\n") for page in collected) == 30


def test_results_that_only_the_new_primary_has_are_looked_up_there(
    pair: ReplicaPair, proxy: Proxy
) -> None:
    """The connection that looks them up stayed at the old primary, which lags."""
    with RedisClient(proxy.url) as reader, RedisClient(proxy.url) as writer:
        batch = writer.submit(true_false_cases(5))
        assert reader.batch(batch.id).status().counts.pending == 5
        fail_over(pair, proxy)
        with pair.replica.client() as demoted:
            demoted.execute_command("REPLICAOF", "127.0.0.1", "1")  # a port without a server
        grade_open_chunks(writer.store, batch.id)
        [(chunk, _)] = writer.store.records(batch.id)
        lines = b"".join(reader.store.result_lines(batch.id, str(chunk)))
        assert lines.count(b"\n") == 5


def test_the_service_goes_on_after_a_failover(pair: ReplicaPair, proxy: Proxy) -> None:
    with HttpServer(proxy.url) as served:
        assert upload(served.url, lines_of(true_false_cases(5))).status_code == 201
        fail_over(pair, proxy)
        answer = upload(served.url, lines_of(true_false_cases(5)))
        assert answer.status_code == 201, answer.text
        assert requests.get(f"{served.url}/api/batches").status_code == 200


def test_a_command_after_an_interrupted_one_does_not_get_its_reply(server: EmbeddedServer) -> None:
    def press_ctrl_c(_: object) -> None:
        raise KeyboardInterrupt

    with connect(server.url) as client:
        client.set_response_callback("ECHO", press_ctrl_c)
        # The second reply has not arrived when the first one is read.
        with pytest.raises(KeyboardInterrupt), client.pipeline(transaction=False) as pipe:
            pipe.echo("first").blpop(["no-such-list"], 0.2).execute()
        client.set_response_callback("ECHO", bytes)
        assert client.echo("second") == b"second"
