"""A Redis Cluster of three masters as the store, with a separate broker."""

from __future__ import annotations

import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from redis.exceptions import RedisClusterException, ResponseError

from support import requests
from support.cases import assert_graded_right, results_by_id, true_false_cases, write_cases
from support.chunks import a_batch, filled
from support.cli import Cli
from support.http import HttpServer
from support.servers import Cluster, free_port
from support.uploads import lines_of, upload
from support.waiting import eventually
from support.workers import BY_MODULE, environment
from weighbridge.errors import ServerError, ServerFullError, ServerUnavailableError
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import Settings
from weighbridge.store import Store
from weighbridge.store.connection import connect, is_cluster, memory_share, translate_errors
from weighbridge.store.key_names import turns
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.servers import TcpServer
    from support.workers import StartWorker, WorkerProcess


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def worker(cluster: Cluster, tcp_server: TcpServer, start_worker: StartWorker) -> WorkerProcess:
    return start_worker(address(cluster), broker_url=tcp_server.url)


@pytest.fixture
def client(cluster: Cluster, tcp_server: TcpServer) -> Iterator[RedisClient]:
    settings = Settings.model_validate({"broker_url": tcp_server.url})
    with RedisClient(address(cluster), settings=settings) as client:
        yield client


@pytest.fixture
def store(cluster: Cluster) -> Iterator[Store]:
    with closing(Store(address(cluster))) as store:
        yield store


def address(cluster: Cluster) -> str:
    return f"redis+cluster://{cluster.hosts}"


@pytest.mark.slow
def test_batches_on_a_cluster_are_graded_and_collected(
    client: RedisClient, worker: WorkerProcess
) -> None:
    batches = [client.submit(true_false_cases(500)) for _ in range(4)]
    for batch in batches:
        batch.wait(40)
        assert batch.status().status == BatchStatus.COMPLETED
        assert_graded_right(results_by_id(batch), 500)
    slots = {client.store.redis.keyslot(f"wb:{{{batch.id}}}:meta") for batch in batches}
    assert len(slots) > 1
    listed = [state.batch_id for state in client.batches()]
    assert set(listed) >= {batch.id for batch in batches}
    # A worker that a test before has killed may be listed for seconds.
    assert worker.pid in [info.pid for info in client.workers()]
    assert client.health().active_batches <= len(listed)
    batches[0].delete()
    assert batches[0].id not in [state.batch_id for state in client.batches()]


@pytest.mark.slow
def test_a_chunk_on_a_cluster_is_handed_out_before_all_of_its_batch_has_arrived(
    store: Store,
) -> None:
    batch = a_batch(store, "early")
    [chunk] = filled(store, batch, [2], seal=False)
    claim = store.claim_next("early", "w/1", 60)
    assert claim
    assert claim.chunk == chunk
    store.delete(batch)


@pytest.mark.slow
def test_a_paused_batch_on_a_cluster_is_handed_out_once_it_resumes(store: Store) -> None:
    batch = a_batch(store, "paused")
    [chunk] = filled(store, batch, [1])
    assert store.pause_batch(batch, paused=True)
    assert store.claim_next("paused", "w/1", 60) is None
    assert store.pause_batch(batch, paused=False)
    claim = store.claim_next("paused", "w/1", 60)
    assert claim
    assert claim.chunk == chunk
    store.delete(batch)


@pytest.mark.slow
def test_a_batch_on_a_cluster_of_which_nothing_waits_has_no_turn(store: Store) -> None:
    batch = a_batch(store, "empty")
    [chunk] = filled(store, batch, [1])
    assert store.set_aside(batch, str(chunk), "", "empty", "some-lane")
    assert store.claim_next("empty", "w/1", 60) is None
    store.reschedule_check(batch)
    assert store.redis.zscore(turns("empty"), batch) is None
    store.delete(batch)


@pytest.mark.slow
def test_a_chunk_on_a_cluster_that_any_worker_may_grade_leaves_the_turns_of_its_queue_for_good(
    store: Store,
) -> None:
    batch = a_batch(store, "anyway")
    [chunk] = filled(store, batch, [1])
    assert store.set_aside(batch, str(chunk), "", "anyway", "some-lane")
    assert store.redis.ttl(turns("anyway", "some-lane")) > 0
    assert store.set_aside(batch, str(chunk), "", "anyway", "")
    assert store.redis.ttl(turns("anyway")) == -1
    claim = store.claim_next("anyway", "w/1", 60)
    assert claim
    assert (claim.chunk, claim.info.anyway) == (chunk, True)
    store.delete(batch)


@pytest.mark.slow
def test_a_closed_batch_on_a_cluster_is_swept_at_once(store: Store) -> None:
    batch = a_batch(store, "closed")
    assert batch not in store.due_batches(store.now() + 60, 100)
    assert store.close_batch(batch, BatchStatus.CANCELLED)
    assert batch in store.due_batches(store.now() + 1, 100)
    store.delete(batch)


@pytest.mark.slow
def test_a_batch_on_a_cluster_is_swept_once_a_lease_has_ended(store: Store) -> None:
    batch = a_batch(store, "short")
    filled(store, batch, [1])
    store.reschedule_check(batch)
    assert store.claim_next("short", "w/1", 0.01)
    assert batch in store.due_batches(store.now() + 0.1, 100)
    store.delete(batch)


@pytest.mark.slow
def test_a_batch_on_a_cluster_is_cancelled_and_retried(
    client: RedisClient, worker: WorkerProcess
) -> None:
    batch = client.submit(true_false_cases(100))
    batch.wait(40)
    batch.retry()
    batch.wait(40)
    assert_graded_right(results_by_id(batch), 100)
    open_one = client.submit(true_false_cases(20_000))
    open_one.cancel()
    eventually(lambda: open_one.status().status.final, 40, "the cancelled batch's end")
    client.drain(worker.await_heartbeat().name)
    assert worker.await_end() == 0


@pytest.mark.slow
def test_the_command_line_works_on_a_cluster(
    cluster: Cluster, worker: WorkerProcess, tcp_server: TcpServer, tmp_path: Path
) -> None:
    cli = Cli(tmp_path, preloaded=True)
    try:
        cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(300))
        servers = {"redis_url": address(cluster), "broker_url": tcp_server.url}
        ended = cli("submit", cases, "--json", **servers)
        assert ended.status == 0, ended.err
        batch = ended.json["batch_id"]
        assert cli("watch", batch, **servers).status == 100  # a third of the jobs fail
        results = cli("results", batch, **servers)
        assert len(results.out.splitlines()) == 300
        listed = cli("workers", "--json", **servers).json
        assert worker.pid in [told["pid"] for told in listed]
        assert cli("status", batch, "--json", **servers).json["counts"]["passed"] == 200
        made = cli("keys", "make", "ci", "--role", "read", "--json", **servers)
        assert made.status == 0, made.err
        assert cli("keys", "revoke", made.json["id"], **servers).status == 0
    finally:
        cli.clean_up()


def test_the_service_works_on_a_cluster(cluster: Cluster, tcp_server: TcpServer) -> None:
    with HttpServer(address(cluster), broker_url=tcp_server.url) as served:
        lines = lines_of(true_false_cases(5))
        first = upload(served.url, lines, idempotency_key="one")
        assert first.status_code == 201, first.text
        again = upload(served.url, lines, idempotency_key="one")
        assert again.json()["batch_id"] == first.json()["batch_id"]
        for path in ("/api/batches", "/api/workers", "/api/health", "/healthz", "/metrics"):
            answer = requests.get(f"{served.url}{path}")
            assert answer.status_code == 200, answer.text


def test_what_belongs_to_no_batch_lies_on_one_node(cluster: Cluster, client: RedisClient) -> None:
    client.submit(true_false_cases(3))
    keys = {key for node in cluster.nodes for key in _keys(node)}
    assert {key for key in keys if b"{" not in key} == set()


def _keys(node: TcpServer) -> list[bytes]:
    with node.client() as client:
        return list(client.scan_iter("wb:*"))


def test_a_cluster_is_as_full_as_its_fullest_master(cluster: Cluster) -> None:
    with cluster.nodes[1].client() as node:
        node.config_set("maxmemory", "100mb")
        client = connect(address(cluster), retry=False)
        assert is_cluster(client)
        try:
            used = node.info("memory")["used_memory"] / (100 << 20)
            assert memory_share(client) == pytest.approx(used, rel=0.3)
        finally:
            node.config_set("maxmemory", "0")
            client.close()


def test_a_full_node_is_reported_as_a_full_server(cluster: Cluster) -> None:
    with cluster.nodes[1].client() as node:
        client = connect(address(cluster), retry=False)
        node.config_set("maxmemory", "1")
        try:
            name = next(
                name
                for name in map(str, range(99))
                if client.get_node_from_key(name).port == cluster.nodes[1].port
            )
            with pytest.raises(ServerFullError), translate_errors():
                client.set(name, 1)
        finally:
            node.config_set("maxmemory", "0")
            client.close()


def test_a_node_that_is_restarted_is_waited_for(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        client = connect(address(cluster))
        names = [f"key-{number}" for number in range(12)]
        for node in cluster.nodes:
            node.kill()
            node.start()
            with client.pipeline(transaction=False) as pipe:
                for name in names:
                    pipe.set(name, node.port)
                assert all(pipe.execute())
            assert all(int(client.get(name)) == node.port for name in names)
        client.close()


def test_a_cluster_that_is_away_is_an_unavailable_server() -> None:
    with pytest.raises(ServerUnavailableError, match="Redis Cluster"):
        connect(f"redis+cluster://127.0.0.1:{free_port()}", retry=False)


def test_what_a_cluster_refuses_is_no_absence_of_the_server() -> None:
    refused = pytest.raises(ServerError, match="refused a command: no such key")
    with refused as raised, translate_errors():
        raise RedisClusterException("no such key")
    assert not isinstance(raised.value, ServerUnavailableError)


def test_a_script_that_finds_no_memory_has_found_a_full_server() -> None:
    with pytest.raises(ServerFullError), translate_errors():
        raise ResponseError("Error running script: -OOM command not allowed")


def test_a_worker_on_a_cluster_without_a_broker_says_what_it_lacks(cluster: Cluster) -> None:
    ended = subprocess.run(
        BY_MODULE[:-1],
        env=environment(address(cluster)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert "WEIGHBRIDGE_BROKER_URL" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_cluster_is_refused_as_a_broker_with_what_would_work(cluster: Cluster) -> None:
    with pytest.raises(ServerError, match="cannot be a Redis Cluster") as raised:
        RedisClient(address(cluster))
    assert "WEIGHBRIDGE_BROKER_URL" in str(raised.value.hint)
