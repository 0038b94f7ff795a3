"""What the command line says of servers that drop batches, and of batches that have lost all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from support.cli import Cli
    from weighbridge.embedded.server import EmbeddedServer

CASE = b'{"inputs": {"agent_response": "a", "expected_output": "a"}}\n'


def test_submit_prints_once_that_the_server_drops_batches(
    cli: Cli, own_server: EmbeddedServer
) -> None:
    with RedisClient(own_server.url) as client:
        client.store.redis.config_set("maxmemory-policy", "allkeys-lru")
    submitted = cli("submit", "-", "--grader", "string-match", stdin=CASE, redis_url=own_server.url)
    assert submitted.status == 0
    assert submitted.err.count("maxmemory-policy of Redis is allkeys-lru") == 1


def test_the_results_of_a_failed_batch_that_has_none_are_an_error(
    cli: Cli, own_server: EmbeddedServer
) -> None:
    with RedisClient(own_server.url) as client:
        batch = client.open("cases")
        batch.give_up("InputError: the pipe broke")
    ended = cli("results", batch.id, redis_url=own_server.url)
    assert (ended.status, ended.out) == (1, "")
    assert "no job of it has a result: InputError: the pipe broke" in " ".join(ended.err.split())
