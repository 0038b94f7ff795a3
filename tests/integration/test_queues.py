"""Queues: the workers of one leave the work of another to its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.jobs.broker import Publisher, broker_url
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
