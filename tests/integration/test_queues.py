"""Queues: the workers of one leave the work of another to its own."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest
from celery import Celery
from celery.app.trace import build_tracer
from redis import Redis

from support.cases import true_false_cases
from weighbridge.broker.publisher import Publisher
from weighbridge.broker.wake_up import GRADE_TASK, WakeUp
from weighbridge.errors import NoSuchQueueError, UnknownGraderError
from weighbridge.jobs.limits import SCHEMA_VERSION
from weighbridge.settings import Settings
from weighbridge.store.worker_registry import WorkerInfo
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_worker.celery_settings import make_celery
from weighbridge_worker.parent.sweeper import Sweeper

if TYPE_CHECKING:
    from weighbridge.embedded.server import EmbeddedServer


def test_only_a_queue_of_the_settings_a_worker_or_a_batch_is_paused(
    own_server: EmbeddedServer,
) -> None:
    with (
        RedisClient(own_server.url, settings=Settings(queue="ours")) as client,
        RedisClient(own_server.url, settings=Settings(queue="theirs")) as other,
    ):
        other.submit(true_false_cases(1))
        worker = WorkerInfo("w", "host", 1, 2, "gpu", SCHEMA_VERSION)
        client.worker_registry.heartbeat(worker, 60)
        for change in (client.pause_queue, client.unpause_queue):
            with pytest.raises(NoSuchQueueError) as refused:
                change("our")
            assert "'our', and no recent batch is in it; did you mean 'ours'?" in str(refused.value)
            assert refused.value.hint == "queues: gpu, ours, theirs"
        assert not client.store.is_queue_paused("our")
        for queue in ("gpu", "ours", "theirs"):
            client.pause_queue(queue)
            assert client.store.is_queue_paused(queue)

        client.worker_registry.leave("w")
        client.unpause_queue("gpu")
        assert not client.store.is_queue_paused("gpu")


def test_a_worker_that_has_just_started_may_bring_a_grader(own_server: EmbeddedServer) -> None:
    with RedisClient(own_server.url) as client:
        first = WorkerInfo("w1", "host", 1, 2, "celery", SCHEMA_VERSION, {"true-false": 3})
        client.worker_registry.heartbeat(first, 60)
        client.open("a", ["true-false"])
        with pytest.raises(UnknownGraderError):
            client.open("b", ["mine"])
        second = WorkerInfo("w2", "host", 2, 2, "celery", SCHEMA_VERSION, {"mine": 1})
        client.worker_registry.heartbeat(second, 60)
        assert client.open("b", ["mine"]).status().status == "validating"


def test_each_queue_is_sent_the_messages_that_it_has_lost(own_server: EmbeddedServer) -> None:
    with ExitStack() as stack:
        clients = {
            queue: stack.enter_context(RedisClient(own_server.url, settings=Settings(queue=queue)))
            for queue in ("lost", "sent", "deserted")
        }
        for client in clients.values():
            case = {"custom_id": "a", "inputs": {"agent_response": "1", "expected_output": "1"}}
            client.submit([case], graders=["true-false"])
        for queue in ("lost", "sent"):
            worker = WorkerInfo(queue, "host", 1, 2, queue, SCHEMA_VERSION)
            clients[queue].worker_registry.heartbeat(worker, 60)
        client = clients["lost"]
        assert client.store.redis.delete("lost", "deserted") == 2
        sweeper = Sweeper(
            "s", client.settings, client.store, client.worker_registry, client.publisher
        )

        def lengths() -> dict[str, int]:
            sweeper.sweep()
            return {queue: client.publisher.queue_length(queue) for queue in clients}

        # Once is no proof: a child may have taken the message and not yet the chunk.
        assert lengths() == {"lost": 0, "sent": 1, "deserted": 0}
        # No messages are sent to a queue without workers; a worker that starts later finds its chunks.
        assert lengths() == {"lost": 1, "sent": 1, "deserted": 0}
        assert lengths() == {"lost": 1, "sent": 1, "deserted": 0}


def test_a_task_of_ones_own_may_wake_workers(server: EmbeddedServer) -> None:
    own = Celery("own", broker=server.url, backend="cache+memory://")
    publisher = Publisher(Settings(queue="sent-by-a-task"), server.url)

    @own.task(name="nightly")
    def nightly() -> int:
        publisher.wake()
        return publisher.queue_length()

    run = build_tracer("nightly", nightly, app=own)
    run("one-run", (), {}, request={"id": "one-run"})
    assert own.AsyncResult("one-run").get(timeout=10) == 1
    publisher.close()


def test_a_message_that_celery_sent_is_a_wake_up_too(server: EmbeddedServer) -> None:
    settings = Settings(queue="sent-by-celery")
    with closing(make_celery(settings, server.url)) as celery, Redis.from_url(server.url) as redis:
        sent = celery.send_task(GRADE_TASK, kwargs=WakeUp(hops=2)._asdict())
        [item] = redis.lrange("sent-by-celery", 0, -1)
    assert WakeUp.from_bytes(item) == (WakeUp(hops=2), sent.id)
