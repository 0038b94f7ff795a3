"""Store and broker behind sentinels: found by the service's name, and found again after a failover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.cases import assert_graded_right, results_by_id, sleepy_cases, true_false_cases
from support.cli import Cli
from support.servers import ReplicaPair, Sentinels, TcpServer, free_port
from support.waiting import eventually
from weighbridge.errors import ServerUnavailableError
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import Settings
from weighbridge.store.connection import connect, translate_errors
from weighbridge_producer import Client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.workers import StartWorker

RECOVERY_SECONDS = 40.0
SLOW_JOBS = 80
PASSWORD = "s3cret-Pa55"


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[ReplicaPair]:
    with ReplicaPair(tmp_path) as pair:
        yield pair


@pytest.fixture
def sentinels(tmp_path: Path, pair: ReplicaPair) -> Iterator[Sentinels]:
    with Sentinels(tmp_path, pair) as sentinels:
        yield sentinels


def address(sentinels: Sentinels) -> str:
    return f"redis+sentinel://{sentinels.hosts}/{sentinels.name}/0"


def grades(client: Client) -> None:
    batch = client.submit(true_false_cases(200))
    batch.wait(RECOVERY_SECONDS)
    assert_graded_right(results_by_id(batch), 200)


@pytest.mark.slow
def test_after_a_failover_by_sentinels_workers_finish_the_batch_and_take_the_next(
    sentinels: Sentinels, start_worker: StartWorker
) -> None:
    worker = start_worker(address(sentinels))
    with Client(address(sentinels)) as client:
        batch = client.submit(sleepy_cases(SLOW_JOBS, 0.05))
        eventually(lambda: batch.status().counts.finished, 30, "the first results")
        sentinels.fail_over()
        batch.wait(RECOVERY_SECONDS)
        assert batch.status().status == BatchStatus.COMPLETED
        assert len(results_by_id(batch)) == SLOW_JOBS
        grades(client)
    assert "a child died" not in worker.log


@pytest.mark.slow
def test_after_a_killed_primary_the_replica_is_gone_on_with(
    pair: ReplicaPair, sentinels: Sentinels, start_worker: StartWorker
) -> None:
    start_worker(address(sentinels))
    with Client(address(sentinels)) as client:
        batch = client.submit(sleepy_cases(SLOW_JOBS, 0.05))
        eventually(lambda: batch.status().counts.finished, 30, "the first results")
        pair.await_replica()
        pair.primary.kill()
        batch.wait(RECOVERY_SECONDS)
        assert batch.status().status == BatchStatus.COMPLETED
        assert len(results_by_id(batch)) == SLOW_JOBS
        grades(client)


def test_the_broker_alone_may_stand_behind_sentinels(
    sentinels: Sentinels, tmp_path: Path, start_worker: StartWorker, tcp_server: TcpServer
) -> None:
    start_worker(tcp_server.url, broker_url=address(sentinels))
    settings = Settings.model_validate({"broker_url": address(sentinels)})
    with Client(tcp_server.url, settings=settings) as client:
        grades(client)
        assert client.health().queue_length == 0


def test_the_command_line_takes_the_address_of_sentinels(
    sentinels: Sentinels, tmp_path: Path
) -> None:
    cli = Cli(tmp_path, preloaded=True)
    try:
        ended = cli("workers", "--redis-url", address(sentinels), "--json")
        assert (ended.status, ended.json) == (0, [])
        lost = cli("workers", "--redis-url", address(sentinels).replace("/grades/", "/others/"))
        assert lost.status != 0
        assert "no sentinel names a primary of 'others'" in lost.err
    finally:
        cli.clean_up()


def test_servers_and_sentinels_may_have_passwords_of_their_own(tmp_path: Path) -> None:
    options = {"requirepass": PASSWORD, "masterauth": PASSWORD}
    with (
        ReplicaPair(tmp_path, **options) as pair,
        Sentinels(tmp_path, pair, requirepass="other", auth_pass=PASSWORD) as sentinels,
    ):
        url = address(sentinels).replace("://", f"://:{PASSWORD}@")
        client = connect(f"{url}?sentinel_password=other", retry=False)
        assert client.set("known", 1)
        client.close()
        with pytest.raises(ServerUnavailableError, match="AuthenticationError"), translate_errors():
            connect(url, retry=False).ping()


def test_sentinels_that_are_away_are_named_without_a_password() -> None:
    url = f"redis+sentinel://:{PASSWORD}@127.0.0.1:{free_port()},127.0.0.1:{free_port()}/grades/0"
    with (
        pytest.raises(ServerUnavailableError, match="no sentinel names") as raised,
        translate_errors(),
    ):
        connect(url, retry=False).ping()
    assert PASSWORD not in str(raised.value)
