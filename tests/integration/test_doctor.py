"""The check-up: each thing that can be wrong is found on a real server that has it, and nothing else is."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from support.cases import hazard_case, true_false_cases
from support.servers import TcpServer, free_port
from support.waiting import eventually
from weighbridge.jobs.limits import SCHEMA_VERSION
from weighbridge.settings import MIB
from weighbridge.store.worker_registry import WorkerInfo
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.doctor import Finding, examine_safely

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import StartWorker

#: `always`, because some servers report under `everysec` too early that the file is synced.
SOUND = {"maxmemory": "200mb", "lazyfree-lazy-expire": "yes", "appendfsync": "always"}

OLD_SERVER = Path("/usr/bin/redis-server")  #: of Debian 12: Redis 7.0


@contextmanager
def server_with(folder: Path, **options: str) -> Iterator[RedisClient]:
    """Run a server on which nothing is wrong but for these options, and yield a client of it."""
    with (
        TcpServer(folder, **(SOUND | options)) as server,
        RedisClient(server.url, retry=False) as client,
    ):
        yield client


@pytest.fixture
def sound(tmp_path: Path) -> Iterator[RedisClient]:
    """A client of a server without problems."""
    with server_with(tmp_path) as client:
        yield client


def found(client: RedisClient) -> list[tuple[str, str]]:
    """Return severity and subject of each finding."""
    return [(finding.severity, finding.subject) for finding in examine_safely(client)]


def only(client: RedisClient) -> Finding:
    """Return the one finding that there must be."""
    [finding] = examine_safely(client)
    assert finding.advice
    return finding


def worker_of(client: RedisClient, name: str = "w", **said: Any) -> None:
    """Store a worker's heartbeat."""
    known: dict[str, Any] = {"graders": {"true-false": 1}} | said
    info = WorkerInfo(
        *(name, f"host-of-{name}", 1, 2, client.settings.queue),
        **({"schema_version": SCHEMA_VERSION} | known),
    )
    client.worker_registry.heartbeat(info, ttl_seconds=60)


class TestServer:
    def test_nothing_is_wrong_with_a_server_as_the_documentation_asks_for(
        self, sound: RedisClient
    ) -> None:
        assert examine_safely(sound) == []

    def test_without_an_append_only_file_a_restart_loses_every_batch(self, tmp_path: Path) -> None:
        with server_with(tmp_path, appendonly="no") as client:
            finding = only(client)
        assert (finding.severity, finding.subject) == ("problem", "persistence")
        assert "appendonly yes" in finding.advice

    def test_a_file_that_is_never_synced_is_a_warning(self, tmp_path: Path) -> None:
        with server_with(tmp_path, appendfsync="no") as client:
            finding = only(client)
        assert (finding.severity, finding.subject) == ("warning", "persistence")
        assert "appendfsync everysec" in finding.advice

    def test_a_server_that_reports_syncs_too_early_is_a_warning(self, tmp_path: Path) -> None:
        with server_with(tmp_path, appendfsync="everysec") as client:
            version = str(client.store.redis.info("server").get("valkey_version"))
            if not version.startswith("9.1."):
                assert examine_safely(client) == []
                pytest.skip(f"this server reports syncs on time: {version}")
            finding = only(client)
        assert (finding.severity, finding.subject) == ("warning", "persistence")
        assert "before the sync" in finding.what

    @pytest.mark.parametrize(("policy", "warns"), [("everysec", True), ("always", False)])
    def test_a_server_that_cannot_confirm_a_sync_is_a_warning(
        self, tmp_path: Path, policy: str, warns: bool
    ) -> None:
        if not OLD_SERVER.exists():
            pytest.skip(f"there is no {OLD_SERVER}")
        with (
            TcpServer(tmp_path, program=OLD_SERVER, **(SOUND | {"appendfsync": policy})) as server,
            RedisClient(server.url, retry=False) as client,
        ):
            if str(client.store.redis.info("server")["redis_version"]) >= "7.2":
                pytest.skip(f"{OLD_SERVER} confirms syncs")
            whats = [finding.what for finding in examine_safely(client)]
        assert ["cannot confirm" in what for what in whats] == [True] * warns

    def test_settings_that_the_user_may_not_read_are_named_as_not_checked(
        self, sound: RedisClient
    ) -> None:
        sound.store.redis.acl_setuser(
            "w",
            enabled=True,
            passwords=["+w"],
            keys=["*"],
            categories=["+@all"],
            commands=["-config"],
        )
        with RedisClient(sound.url.replace("//", "//w:w@"), retry=False) as client:
            finding = only(client)
        assert (finding.severity, finding.subject) == ("warning", "server")
        assert finding.what.startswith("not checked: appendfsync and lazyfree-lazy-expire, because")
        assert "weighbridge-operator" in finding.advice

    def test_a_snapshot_that_failed_is_a_warning(self, tmp_path: Path) -> None:
        folder = tmp_path / "gone"
        folder.mkdir()
        with server_with(folder, appendonly="no") as client:
            redis = client.store.redis
            shutil.rmtree(folder)
            folder.mkdir()  # a new folder: the server's working directory is the deleted one
            redis.bgsave()
            eventually(lambda: redis.info("persistence")["rdb_last_bgsave_status"] == "err", 15)
            assert ("warning", "persistence") in found(client)

    def test_a_server_that_evicts_is_a_problem(self, tmp_path: Path) -> None:
        with server_with(tmp_path, **{"maxmemory-policy": "allkeys-lru"}) as client:
            finding = only(client)
        assert (finding.severity, finding.subject) == ("problem", "memory")
        assert "allkeys-lru" in finding.what

    def test_a_server_that_frees_while_it_expires_is_a_warning(self, tmp_path: Path) -> None:
        with server_with(tmp_path, **{"lazyfree-lazy-expire": "no"}) as client:
            finding = only(client)
        assert (finding.severity, finding.advice) == ("warning", "set lazyfree-lazy-expire yes")

    def test_a_server_without_a_limit_of_memory_is_a_warning(self, tmp_path: Path) -> None:
        with server_with(tmp_path, maxmemory="0") as client:
            finding = only(client)
        assert (finding.severity, finding.subject) == ("warning", "memory")

    @pytest.mark.parametrize(("share", "severity"), [(0.85, "warning"), (0.98, "problem")])
    def test_a_server_that_is_nearly_full_is_told_with_how_full_it_is(
        self, sound: RedisClient, share: float, severity: str
    ) -> None:
        redis = sound.store.redis
        # Large compared with the server's own memory. SETRANGE is used because a large value would stay in a buffer.
        redis.setrange("filler", 64 * MIB - 1, b"x")
        redis.config_set("maxmemory", int(redis.info("memory")["used_memory"] / share))
        finding = only(sound)
        assert (finding.severity, finding.subject) == (severity, "memory")
        assert "% full" in finding.what

    def test_a_replica_is_told_to_be_one_whatever_else_it_refuses(self, sound: RedisClient) -> None:
        sound.worker_registry.heartbeat(
            WorkerInfo("w", "h", 1, 1, "q", SCHEMA_VERSION), ttl_seconds=0.001
        )
        redis = sound.store.redis
        redis.replicaof("127.0.0.1", free_port())
        findings = examine_safely(sound)
        assert findings[0].what == "this Redis server is a replica: it accepts no writes"
        assert findings[0].severity == "problem"

    def test_a_server_that_does_not_answer_is_a_finding(self) -> None:
        with RedisClient(f"redis://127.0.0.1:{free_port()}/0", retry=False) as client:
            finding = only(client)
        assert (finding.severity, finding.subject) == ("problem", "server")
        assert finding.what.startswith("REDIS_UNAVAILABLE")

    def test_a_broker_that_does_not_answer_hides_nothing_of_the_server(
        self, tmp_path: Path
    ) -> None:
        with server_with(tmp_path, appendonly="no") as client:
            broker = f"redis://127.0.0.1:{free_port()}/0"
            settings = client.settings.model_copy(update={"broker_url": SecretStr(broker)})
            with RedisClient(client.url, settings=settings, retry=False) as other:
                subjects = [finding.subject for finding in examine_safely(other)]
        assert subjects == ["persistence", "server"]


class TestWorkers:
    def test_a_batch_without_workers_is_a_problem(self, sound: RedisClient) -> None:
        sound.submit(true_false_cases(3))
        finding = only(sound)
        assert (finding.severity, finding.subject) == ("problem", "workers")
        assert "weighbridge worker" in finding.advice

    def test_a_plug_in_that_failed_to_load_is_told_with_its_worker(
        self, sound: RedisClient
    ) -> None:
        worker_of(sound, broken_plug_ins={"mine": "ImportError: no module named mine"})
        finding = only(sound)
        assert (finding.severity, finding.subject) == ("problem", "workers")
        assert "mine" in finding.what
        assert "ImportError" in finding.what

    @pytest.mark.parametrize("skew", [-3600.0, 60.0])
    def test_a_worker_whose_clock_is_off_is_a_warning(
        self, sound: RedisClient, skew: float
    ) -> None:
        worker_of(sound, clock_skew_seconds=skew)
        worker_of(sound, "right", clock_skew_seconds=1.0)
        finding = only(sound)
        assert (finding.severity, finding.subject) == ("warning", "clock")
        assert "host-of-w" in finding.what

    def test_a_real_worker_is_no_finding_but_for_its_broken_plug_in(
        self, sound: RedisClient, start_worker: StartWorker
    ) -> None:
        start_worker(sound.url, 1)
        finding = only(sound)
        assert finding.subject == "workers"
        assert "the plug-in broken failed to load: ModuleNotFoundError" in finding.what

    def test_a_worker_of_another_release_is_a_problem(self, sound: RedisClient) -> None:
        worker_of(sound, schema_version=SCHEMA_VERSION + 1)
        finding = only(sound)
        assert (finding.severity, finding.subject) == ("problem", "versions")

    def test_graders_that_differ_between_workers_are_a_warning(self, sound: RedisClient) -> None:
        worker_of(sound, "old", graders={"true-false": 1})
        worker_of(sound, "new", graders={"true-false": 2, "mine": 1})
        whats = [finding.what for finding in examine_safely(sound)]
        assert whats == [
            "the grader mine is not installed in the same version on all 2 workers: version 1 on 1 worker",
            "the grader true-false is not installed in the same version on all 2 workers: version 1 on 1 worker, version 2 on 1 worker",
        ]

    def test_workers_of_another_queue_need_not_have_the_same_graders(
        self, sound: RedisClient
    ) -> None:
        worker_of(sound, "here")
        info = WorkerInfo("there", "h", 1, 2, "other", SCHEMA_VERSION, {"mine": 1})
        sound.worker_registry.heartbeat(info, ttl_seconds=60)
        assert examine_safely(sound) == []


class TestWork:
    def test_a_paused_queue_is_a_warning_that_says_how_to_go_on(self, sound: RedisClient) -> None:
        sound.pause_queue("weighbridge")
        finding = only(sound)
        assert (finding.severity, finding.subject) == ("warning", "queue")
        assert finding.advice == "weighbridge unpause --queue weighbridge"
        sound.unpause_queue("weighbridge")
        assert examine_safely(sound) == []

    def test_a_paused_queue_of_a_batch_that_no_worker_reads_is_found(
        self, sound: RedisClient
    ) -> None:
        settings = sound.settings.model_copy(update={"queue": "other"})
        worker_of(sound)
        with RedisClient(sound.url, settings=settings) as other:
            other.submit(true_false_cases(1))
            other.pause_queue("other")
        assert ("warning", "queue") in found(sound)

    def test_a_paused_batch_is_a_warning_until_it_has_ended(self, sound: RedisClient) -> None:
        worker_of(sound)
        batch = sound.submit(true_false_cases(3))
        batch.pause()
        finding = only(sound)
        assert (finding.severity, finding.subject) == ("warning", "batches")
        assert finding.advice == f"weighbridge unpause {batch.id}"
        batch.cancel()
        assert examine_safely(sound) == []

    def test_chunks_that_nobody_grades_are_a_problem(self, sound: RedisClient) -> None:
        worker_of(sound)
        batch = sound.submit(true_false_cases(3))
        assert examine_safely(sound) == []
        long_ago = int((time.time() - 3600) * 1000)
        sound.store.redis.hset(f"wb:{{{batch.id}}}:meta", "created_ms", long_ago)
        finding = only(sound)
        assert (finding.severity, finding.subject) == ("problem", "chunks")
        assert batch.id in finding.what

    def test_dead_letters_are_a_warning_that_says_how_to_try_again(
        self, sound: RedisClient, start_worker: StartWorker
    ) -> None:
        start_worker(sound.url, 1)
        batch = sound.submit([hazard_case("k", "kills-itself"), *true_false_cases(3)])
        batch.wait(90)
        [finding] = [row for row in examine_safely(sound) if row.subject == "dead letters"]
        assert finding.severity == "warning"
        assert "WORKER_KILLED" in finding.what
        assert f"weighbridge results {batch.id} --errored --cause WORKER_KILLED`" in finding.advice
        assert finding.advice.endswith(f"weighbridge retry {batch.id}")

    def test_results_that_differed_when_graded_twice_are_a_warning(
        self, sound: RedisClient
    ) -> None:
        worker_of(sound)
        batch = sound.submit(true_false_cases(3))
        batch.cancel()
        sound.store.redis.hset(f"wb:{{{batch.id}}}:meta", "nondeterministic", 2)
        finding = only(sound)
        assert (finding.severity, finding.subject) == ("warning", "batches")
        assert "2 chunks" in finding.what
