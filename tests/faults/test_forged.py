"""Forged data, written by anyone with access to the server, affects its own batch at most."""

from __future__ import annotations

import base64
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from support.cases import assert_graded_right, hazard_case, results_by_id, true_false_cases
from support.waiting import eventually
from support.workers import BY_CELERY, BY_MODULE, WorkerProcess, environment
from weighbridge.broker.wake_up import GRADE_TASK
from weighbridge.store.key_names import shared_key
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from support.servers import TcpServer
    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

SAID = {"schema_version": 1, "lane": "", "hops": 0}


def message(payload: object = ([], SAID, {}), *, body: bytes | None = None, **parts: Any) -> bytes:
    """Return a message like ours with some parts replaced."""
    body = orjson.dumps(payload) if body is None else body
    headers = {"lang": "py", "task": GRADE_TASK, "id": "an-id", "root_id": "an-id"}
    properties = {
        "correlation_id": "an-id",
        "delivery_info": {"exchange": "", "routing_key": "weighbridge"},
        "delivery_tag": "a-tag",
        "priority": 0,
        "body_encoding": "base64",
    }
    whole = {
        "body": base64.b64encode(body).decode(),
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": headers | parts.pop("headers", {}),
        "properties": properties | parts.pop("properties", {}),
    }
    return orjson.dumps(whole | parts)


#: items that are not messages of Weighbridge
STRANGERS = {
    "text": b"hello",
    "nothing": b"",
    "no text": b"\xff\xfe",
    "a number": b"5",
    "a list": b"[1, 2]",
    "depth": b"[" * 10_000,
    "size": b'"' + b"x" * 1_000_000 + b'"',
    "an empty object": b"{}",
    "headers only": orjson.dumps({"body": "x", "headers": {}}),
    "no headers": orjson.dumps({"body": "", "headers": None, "properties": {"delivery_tag": "q"}}),
    "another task": message(headers={"task": "os.system"}),
    "an id that is none": message(headers={"id": ["a"]}),
    "a body without encoding": message(properties={"body_encoding": "rot13"}),
    "a body that is no base64": message().replace(b'"body":"', b'"body":"\xc3\xa4'),
    "a body that is no JSON": message(body=b"not json"),
    "a body that is a number": message(5),
    "a body of three numbers": message([5, 6, 7]),
    "a body of text": message(["args"]),
    "arguments by position": message([[1, "b", "c"], {}, {}]),
    "nothing said": message([[], {}, {}]),
    "words of other types": message([[], {"schema_version": [], "lane": {}, "hops": "x"}, {}]),
    "a negative number of hops": message([[], SAID | {"lane": "grader:x@1", "hops": -(2**62)}, {}]),
    "a message of an older release": message(
        [[], {"schema_version": 1, "batch": "b", "chunk": "0"}, {}]
    ),
}

#: messages of Weighbridge with additions that would crash Celery
ODDITIES = {
    "limits of time": {"headers": {"timelimit": ["a", "b"]}},
    "a time to begin": {"headers": {"eta": "2099-01-01T00:00:00"}},
    "a time to begin that is none": {"headers": {"eta": {"a": 1}}},
    "a time to end": {"headers": {"expires": "2000-01-01T00:00:00"}},
    "retries": {"headers": {"retries": "x"}},
    "compression": {"headers": {"compression": "evil"}},
    "stamps": {"headers": {"stamped_headers": 5, "stamps": 5}},
    "a content type": {"content-type": "application/x-python-serialize"},
    "a content encoding": {"content-encoding": "evil"},
    "no delivery tag": {"properties": {"delivery_tag": None}},
    "another queue": {"properties": {"delivery_info": {"exchange": 5, "routing_key": []}}},
}


@pytest.mark.parametrize("command", [(), BY_CELERY], ids=["module", "celery"])
def test_what_is_no_message_is_dropped_and_named_in_the_log(
    own_server: EmbeddedServer, start_worker: StartWorker, command: Sequence[str]
) -> None:
    worker = start_worker(own_server.url, 1, command=command)
    with RedisClient(own_server.url) as client:
        for stranger in STRANGERS.values():
            client.store.redis.lpush(client.settings.queue, stranger)
        grades(client)
        assert client.publisher.queue_length() == 0
        assert client.store.redis.keys("unacked*") == []
    eventually(
        lambda: worker.log.count("not from Weighbridge") == len(STRANGERS), 10, "a word on each"
    )
    assert stops(worker) == 0


def test_what_is_no_message_is_dropped_by_a_server_reached_over_tcp(
    tcp_server: TcpServer, start_worker: StartWorker
) -> None:
    worker = start_worker(tcp_server.url, 1)
    with RedisClient(tcp_server.url) as client:
        client.store.redis.lpush(client.settings.queue, *STRANGERS.values())
        grades(client)
    assert stops(worker) == 0


def test_what_a_message_says_beside_that_there_is_work_is_not_listened_to(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with RedisClient(own_server.url) as client:
        batches = [client.submit(true_false_cases(20)) for _ in ODDITIES]
        client.store.redis.delete(client.settings.queue)
        for oddity in ODDITIES.values():
            client.store.redis.lpush(client.settings.queue, message(**oddity))
        # Nobody else sends their chunks out.
        worker = start_worker(own_server.url, 1, sweep_seconds=600)
        for batch in batches:
            batch.wait(30)
            assert_graded_right(results_by_id(batch), 20)
        assert client.store.redis.keys("unacked*") == []
    assert stops(worker) == 0


def test_a_worker_that_cannot_go_on_says_so_with_its_exit_status(
    own_server: EmbeddedServer, tmp_path: Path
) -> None:
    env = environment(own_server.url, broker_url="redis://localhost/no-number")
    worker = WorkerProcess(own_server.url, 1, env, tmp_path / "worker.log")
    try:
        assert worker.await_end(60) == 1
        assert "Unrecoverable error" in worker.log
    finally:
        worker.clean_up()


#: heartbeats of other releases
BEATS: dict[str, object] = {
    "a worker without slots": {
        "name": "newer",
        "pid": 1,
        "queue": "q",
        "schema_version": 1,
        "concurrency": 0,
    },
    "a worker of which little is known": {"name": "other", "new_field": 1},
    "a list": [1],
    "text": "text",
}


def test_heartbeats_of_other_releases_stop_neither_sweepers_nor_producers(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with RedisClient(own_server.url) as client:
        server = client.store.redis
        server.zadd(shared_key("workers"), {**dict.fromkeys(BEATS, 9e12), b"\xff\xfe": 9e12})
        server.hset(
            shared_key("beats"), mapping={name: orjson.dumps(beat) for name, beat in BEATS.items()}
        )
        worker = start_worker(own_server.url, 1, sweep_seconds=0.2)
        assert [info.pid for info in client.worker_registry.alive()] == [worker.pid]
        sweeps_a_lost_batch(client)
    health = [*BY_MODULE[:-2], "health"]
    subprocess.run(health, env=environment(own_server.url), check=True, timeout=60)


def test_a_newer_worker_is_known_by_what_is_known_of_it(own_server: EmbeddedServer) -> None:
    with RedisClient(own_server.url) as client:
        known = {"host": "h", "pid": 1, "concurrency": 3, "queue": "q", "schema_version": 2}
        beat = {"name": "newer", **known, "graders": {"true-false": 2}, "new_field": 1}
        client.store.redis.zadd(shared_key("workers"), {"newer": 9e12})
        client.store.redis.hset(shared_key("beats"), "newer", orjson.dumps(beat))
        (info,) = client.worker_registry.alive()
        assert (info.name, info.concurrency, info.graders) == ("newer", 3, {"true-false": 2})


def test_a_batch_that_cannot_be_swept_is_named_once_and_keeps_no_other_waiting(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with RedisClient(own_server.url) as client:
        for shared in ("active", "due"):
            client.store.redis.zadd(f"wb:{{fleet}}:{shared}", {b"evil": 1, b"\xff\xfe": 1})
        client.store.redis.set("wb:{evil}:meta", "x")
        worker = start_worker(own_server.url, 1, sweep_seconds=0.2)
        eventually(lambda: "batch 'evil' cannot be swept" in worker.log, 20, "a sweep")
        for _ in range(3):
            sweeps_a_lost_batch(client)
    assert worker.log.count("batch 'evil' cannot be swept") == 1


def test_a_batch_with_unreadable_options_is_tried_seldom_and_keeps_no_other_waiting(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with RedisClient(own_server.url) as client:
        broken = client.submit(true_false_cases(10))
        client.store.redis.hset(f"wb:{{{broken.id}}}:meta", "options", b"\xc1")
        worker = start_worker(own_server.url, 1, sweep_seconds=0.2)
        eventually(lambda: f"batch {broken.id} cannot be read" in worker.log, 20, "a word on it")
        for _ in range(3):
            grades(client)
        assert worker.log.count(f"batch {broken.id} cannot be read") == 1
        broken.delete()


def test_a_death_that_cannot_be_handled_stops_neither_the_heartbeat_nor_other_work(
    own_server: EmbeddedServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    worker = start_worker(own_server.url, 2, sweep_seconds=0.2, heartbeat_seconds=0.2)
    mark = tmp_path / "mark"
    with RedisClient(own_server.url) as client:
        batch = client.submit([hazard_case("slow", "marks-and-sleeps", expected=f"60 {mark}")])
        eventually(mark.exists, 20, "the job's beginning")
        for key in client.store.redis.scan_iter(f"wb:{{{batch.id}}}:*"):
            client.store.redis.set(key, "x")
        for child in worker.await_children(2):
            child.send_signal(signal.SIGKILL)
        eventually(lambda: "failed, and is tried again" in worker.log, 20, "the failure")
        before = eventually(worker.info)
        sweeps_a_lost_batch(client)
        eventually(lambda: (info := worker.info()) and info.jobs > before.jobs, 10, "a heartbeat")


def sweeps_a_lost_batch(client: RedisClient) -> None:
    """Assert that a batch whose message is lost is still graded."""
    batch = client.submit(true_false_cases(10))
    client.store.redis.delete(client.settings.queue)
    batch.wait(30)
    assert_graded_right(results_by_id(batch), 10)


def grades(client: RedisClient) -> None:
    """Assert that a worker still grades."""
    batch = client.submit(true_false_cases(10))
    batch.wait(30)
    assert_graded_right(results_by_id(batch), 10)


def stops(worker: WorkerProcess) -> int:
    """Ask a worker to stop, and return its exit status."""
    worker.ask_to_stop()
    return worker.await_end()
