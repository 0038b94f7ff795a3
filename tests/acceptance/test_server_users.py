"""The users of deploy/redis-acl.conf: with each part under its own user everything works, and nothing else is allowed."""

from __future__ import annotations

import re
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import redis
from redis.exceptions import NoPermissionError, ResponseError

from support.cases import hazard_case, true_false_cases
from support.http import HttpServer
from support.servers import TcpServer
from support.uploads import NDJSON, lines_of
from support.waiting import eventually
from weighbridge.embedded.binary import find_server
from weighbridge.errors import BatchNotFoundError
from weighbridge.store.api_keys import ApiKeys, Role
from weighbridge.store.result_filter import ResultFilter
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.doctor import examine_safely

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.cli import Cli
    from support.workers import StartWorker

RULES = Path(__file__).resolve().parents[2] / "deploy/redis-acl.conf"
USERS = ("producer", "worker", "service", "operator")


class Users:
    """A server with the users in the documented file, and an additional user with all permissions."""

    def __init__(self, server: TcpServer) -> None:
        self._server = server

    def url(self, name: str) -> str:
        """Return the server's URL with a user's login."""
        user = name if name == "admin" else f"weighbridge-{name}"
        return self._server.url.replace("//", f"//{user}:{password(name)}@")

    def connect(self, name: str) -> Any:
        """Return a connection as one of the users."""
        return redis.Redis.from_url(self.url(name))

    def refused(self) -> list[tuple[str, str]]:
        """Return the users and commands that the server has refused, and reset the list."""
        with self.connect("admin") as admin:
            entries = admin.acl_log()
            admin.acl_log_reset()
        return [(entry["username"], entry["object"]) for entry in entries]


def password(name: str) -> str:
    return f"secret-of-{name}"


@pytest.fixture(scope="module")
def server_of_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    folder = tmp_path_factory.mktemp("users")
    rules = RULES.read_text() + f"\nuser admin on >{password('admin')} ~* &* +@all\n"
    for name in USERS:
        digest = sha256(password(name).encode()).hexdigest()
        rules = rules.replace(f"{name.upper()}_PASSWORD_SHA256", digest)
    (folder / "users.conf").write_text(rules)
    options = {"maxmemory": "200mb", "lazyfree-lazy-expire": "yes"}
    with TcpServer(folder, include=str(folder / "users.conf"), **options) as server:
        yield Users(server)


@pytest.fixture
def users(server_of_users: Users) -> Users:
    """The same server with an empty list of refused commands."""
    server_of_users.refused()
    return server_of_users


def test_a_server_does_not_start_with_a_password_left_out(tmp_path: Path) -> None:
    rules = tmp_path / "users.conf"
    rules.write_text(RULES.read_text())
    server = [find_server().path, "--port", "0", "--dir", tmp_path, "--include", rules]
    ended = subprocess.run(server, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode != 0
    assert "password hash must be exactly 64 characters" in ended.stdout + ended.stderr


@pytest.mark.timeout(300)
def test_every_part_does_its_work_under_its_own_user(
    users: Users, start_worker: StartWorker
) -> None:
    worker = start_worker(users.url("worker"), job_deadline_seconds=1)
    with RedisClient(users.url("producer"), retry=False) as producer:
        submit_collect_and_delete(producer)
        pause_retry_and_cancel(producer)
    with RedisClient(users.url("operator"), retry=False) as operator:
        token = operate(operator)
        serve(users.url("service"), token)
        operator.drain(worker.await_heartbeat().name)
        assert worker.await_end() == 0
    assert users.refused() == []


def submit_collect_and_delete(producer: RedisClient) -> None:
    batch = producer.submit([*true_false_cases(3000), *true_false_cases(10)], priority="low")
    assert batch.wait(90).counts.total == 3000
    assert len(list(batch.results())) == 3000
    assert batch.summary()
    assert batch.result("c7")
    assert batch.search(ResultFilter(verdict="fail")).lines
    assert [state.batch_id for state in producer.batches()] == [batch.id]
    # The worker of another test on this server may be listed until its heartbeat expires.
    assert {worker.queue for worker in producer.health().workers} == {"weighbridge"}
    assert batch.delete()
    with pytest.raises(BatchNotFoundError):
        batch.status()


def pause_retry_and_cancel(producer: RedisClient) -> None:
    # The batch cannot end before it is paused: one of its jobs runs until its deadline.
    doubtful = [hazard_case("k", "kills-itself"), hazard_case("l", "loops"), *true_false_cases(9)]
    batch = producer.submit(doubtful, priority="high")
    batch.pause()
    batch.unpause()
    batch.wait(90)
    assert batch.retry() == 2
    assert batch.cancel().status.final


def operate(operator: RedisClient) -> str:
    found = {finding.subject for finding in examine_safely(operator)}
    # Of the server: it reports the sync of its file too early.
    assert found <= {"workers", "dead letters", "persistence"}
    keys = ApiKeys(operator.store.redis)
    operator.pause_queue("weighbridge")
    operator.unpause_queue("weighbridge")
    spare, _ = keys.make("spare", Role.READ)
    assert keys.all() == [spare]
    assert keys.revoke(spare.id)
    return keys.make("ann", Role.ADMIN)[1]


def serve(url: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    with (
        HttpServer(url, keys_required=True) as service,
        httpx.Client(verify=False, base_url=service.url, headers=headers, timeout=30) as http,
    ):
        answer = http.post(
            "/api/batches",
            content=lines_of(true_false_cases(200)),
            headers=NDJSON | {"Idempotency-Key": "once"},
        )
        assert answer.status_code == 201, answer.text
        batch = f"/api/batches/{answer.json()['batch_id']}"
        eventually(lambda: http.get(batch).json()["status"] == "completed", 60)
        for path in (
            *("/readyz", "/metrics", "/api/workers", "/api/health", "/api/batches", "/workers"),
            *(batch, f"{batch}/results", f"{batch}/results?verdict=fail", f"{batch}/results/c1"),
        ):
            assert http.get(path, follow_redirects=True).status_code == 200, path
        [worker] = http.get("/api/workers").json()["workers"]
        for action in ("pause", "unpause"):
            assert http.post(f"/api/queues/weighbridge/{action}").status_code == 200
        assert http.post(f"{batch}/retry").status_code == 200
        assert http.post(f"{batch}/cancel").status_code == 200
        assert http.delete(batch).status_code == 204
        assert http.post("/api/workers/none/drain").status_code == 404
        assert worker["name"]


@pytest.mark.timeout(300)
def test_a_producer_has_its_commands_and_none_that_stops_the_work_of_others(
    users: Users, start_worker: StartWorker, cli: Cli
) -> None:
    worker = start_worker(users.url("worker")).await_heartbeat().name
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = users.url("producer")
    (cli.folder / "cases.jsonl").write_bytes(lines_of(true_false_cases(50)))
    for command in (("drain", worker), ("drain", "all"), ("pause", "--queue", "weighbridge")):
        ended = cli(*command)
        assert (ended.status, ended.out) == (1, "")
        assert "Redis refused a command" in ended.err
        assert "weighbridge-operator" in ended.err
    with users.connect("operator") as operator:
        assert not operator.exists("wb:{fleet}:drains", "wb:{fleet}:paused")
    assert {user for user, _ in users.refused()} == {"weighbridge-producer"}

    batch = cli("submit", "cases.jsonl", "--json").json["batch_id"]
    assert cli("watch", batch, "--json").json["counts"]["graded"] == 50
    with RedisClient(users.url("operator")) as operator:
        operator.pause_queue("weighbridge")
        held = cli("submit", "cases.jsonl", "--json", "--priority", "low").json["batch_id"]
        for command in (
            *(("status", batch), ("results", batch), ("workers",), ("batches",), ("dead-letters",)),
            *(("pause", held), ("unpause", held), ("cancel", held), ("retry", held)),
            *(("delete", held), ("delete", batch)),
        ):
            ended = cli(*command)
            assert ended.status == 0, (command, ended)
        operator.unpause_queue("weighbridge")
    assert users.refused() == []


@pytest.mark.parametrize("name", ["producer", "service"])
def test_an_id_that_is_none_is_said_to_be_none(users: Users, name: str) -> None:
    with (
        RedisClient(users.url(name), retry=False) as client,
        pytest.raises(BatchNotFoundError, match="'nosuch' is not a batch id"),
    ):
        client.batch("nosuch").status()
    assert users.refused() == []


@pytest.mark.parametrize("role", [Role.READ, Role.ADMIN])
def test_the_service_has_no_batch_of_an_id_that_is_none(users: Users, role: Role) -> None:
    with users.connect("operator") as operator:
        token = ApiKeys(operator).make("who", role)[1]
    with HttpServer(users.url("service"), keys_required=True) as service:
        answer = httpx.get(
            f"{service.url}/api/batches/nosuch", headers={"Authorization": f"Bearer {token}"}
        )
    assert (answer.status_code, answer.json()["code"]) == (404, "BATCH_NOT_FOUND")
    assert users.refused() == []


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize(
    "command",
    [
        "FLUSHALL",
        "FLUSHDB",
        "CONFIG SET maxmemory 1",
        "CONFIG REWRITE",
        "ACL SETUSER other on nopass ~* +@all",
        "ACL LIST",
        "SHUTDOWN NOSAVE",
        "REPLICAOF 127.0.0.1 1",
        "CLIENT LIST",
        "MODULE LIST",
        "MONITOR",
        "KEYS *",
        "SCAN 0",
        "CLIENT KILL TYPE normal",
        "FUNCTION FLUSH",
        "SCRIPT FLUSH",
        "EVAL return 0",
        "SAVE",
        "GET somebody:elses",
        "SET somebody:elses 1",
        "PUBLISH channel 1",
        "SUBSCRIBE channel",
    ],
)
def test_no_user_may(server_of_users: Users, name: str, command: str) -> None:
    with server_of_users.connect(name) as connection, pytest.raises(NoPermissionError):
        connection.execute_command(*command.split(" "))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("producer", "HGETALL wb:{fleet}:api_keys"),
        ("producer", "HSET wb:{fleet}:api_keys id {}"),
        ("producer", "XREVRANGE wb:{fleet}:audit + -"),
        ("producer", "SET wb:{fleet}:sweeper w"),
        ("producer", "HSET wb:{fleet}:drains w 1"),
        ("producer", "HSET wb:{fleet}:paused weighbridge 1"),
        ("producer", "ZREM wb:{fleet}:workers w"),
        ("producer", "HSET wb:{fleet}:beats w {}"),
        ("producer", "BRPOP weighbridge 1"),
        ("producer", "CONFIG GET requirepass"),
        ("worker", "HGETALL wb:{fleet}:api_keys"),
        ("worker", "HSET wb:{fleet}:api_keys id {}"),
        ("worker", "ZRANGE wb:{fleet}:batches 0 -1"),
        ("worker", "XADD wb:{fleet}:audit * entry {}"),
        ("worker", "HSET wb:{fleet}:paused weighbridge 1"),
        ("worker", "CONFIG GET requirepass"),
        ("service", "HSET wb:{fleet}:api_keys id {}"),
        ("service", "HDEL wb:{fleet}:api_keys id"),
        ("service", "HSET wb:{fleet}:beats w {}"),
        ("service", "BRPOP weighbridge 1"),
        ("service", "CONFIG GET requirepass"),
        ("operator", "BRPOP weighbridge 1"),
    ],
)
def test_a_user_may_not(server_of_users: Users, name: str, command: str) -> None:
    with server_of_users.connect(name) as connection, pytest.raises(NoPermissionError):
        connection.execute_command(*command.split(" "))


@pytest.mark.parametrize("name", ["producer", "worker"])
def test_a_script_reads_no_more_than_its_user_may(server_of_users: Users, name: str) -> None:
    with server_of_users.connect(name) as connection:
        script = connection.script_load("return redis.call('HGETALL', 'wb:{fleet}:api_keys')")
        with pytest.raises(ResponseError, match=r"can't access|permission"):
            connection.evalsha(script, 0)


def test_nobody_comes_in_without_a_user(server_of_users: Users) -> None:
    url = re.sub(r"//.*@", "//", server_of_users.url("admin"))
    with redis.Redis.from_url(url) as nobody, pytest.raises(redis.AuthenticationError):
        nobody.ping()


def test_the_documentation_names_every_user_of_the_file() -> None:
    told = (RULES.parents[1] / "docs/how-to/deployment.md").read_text()
    named = re.findall(r"^user (weighbridge-\w+) ", RULES.read_text(), re.MULTILINE)
    assert named == [f"weighbridge-{name}" for name in USERS]
    assert [name for name in named if f"`{name}`" not in told] == []
