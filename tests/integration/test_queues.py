"""Queues: the workers of one leave the work of another to its own."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from celery import Celery
from celery.app.trace import build_tracer

from weighbridge.jobs.broker import Publisher, broker_url
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.fleet import Fleet
from weighbridge.settings import Settings
from weighbridge_producer import Client
from weighbridge_worker import sweeper

if TYPE_CHECKING:
    import pytest

    from weighbridge.embedded import EmbeddedServer


def test_a_sweeper_sends_out_again_only_what_its_own_queue_has_lost(
    own_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "WAITING_SECONDS", 0.0)
    with Client(own_server.url, settings=Settings(queue="ours")) as client:
        case = {"custom_id": "a", "inputs": {"agent_response": "1", "expected_output": "1"}}
        batch = client.submit([case], graders=["true-false"])
        sent = {}
        for queue in ("theirs", "ours"):
            publisher = Publisher(Settings(queue=queue), broker_url(own_server.url))
            with publisher.app.connection_for_write() as connection:
                connection.default_channel.client.delete("ours")
            sweeps = sweeper.Sweeper(client.store, Fleet(client.store.redis), publisher)
            sent[queue] = sweeps.sweep(), publisher.queue_length()
            publisher.close()
        assert sent == {"theirs": (0, 0), "ours": (1, 1)}
        batch.cancel()


def test_a_task_of_ones_own_may_send_chunks(server: EmbeddedServer) -> None:
    own = Celery("own", broker=broker_url(server.url), backend="cache+memory://")
    publisher = Publisher(Settings(queue="sent-by-a-task"), server.url)

    @own.task(name="nightly")
    def nightly() -> int:
        publisher.publish("batch", ChunkId(0))
        return publisher.queue_length()

    run = build_tracer("nightly", nightly, app=own)
    run("one-run", (), {}, request={"id": "one-run"})
    assert own.AsyncResult("one-run").get(timeout=10) == 1
    publisher.close()


def test_threads_that_send_first_at_nearly_the_same_time_all_can() -> None:
    program = """
import threading, time
from weighbridge.jobs.broker import make_celery
from weighbridge.settings import Settings
settings, names = Settings(), []

def load(number):
    time.sleep(number / 2000)  # each while those before it are loading Celery
    names.append(make_celery(settings, "redis://nowhere").main)

threads = [threading.Thread(target=load, args=[number]) for number in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(names)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.stderr) == (f"{['weighbridge'] * 6}\n", "")
