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

from support.cases import hazard_case, true_false_cases, write_cases
from support.http import HttpServer
from support.servers import TcpServer
from support.uploads import NDJSON, lines_of
from support.waiting import eventually
from weighbridge.server_binary import find_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.cli import Cli
    from support.workers import StartWorker

RULES = Path(__file__).resolve().parents[2] / "deploy/redis-acl.conf"
USERS = ("producer", "worker", "service", "operator")


class Users:
    """A server with the users of the file, and one beside them who may do everything."""

    def __init__(self, server: TcpServer) -> None:
        self._server = server

    def url(self, name: str) -> str:
        """Return the address under which a part uses the server."""
        user = name if name == "admin" else f"weighbridge-{name}"
        return self._server.url.replace("//", f"//{user}:{password(name)}@")

    def connect(self, name: str) -> Any:
        """Return a connection as one of the users."""
        return redis.Redis.from_url(self.url(name))

    def refused(self) -> list[tuple[str, str]]:
        """Return what the server has refused to whom, and begin anew."""
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
    """The same, with nothing noted yet of what was refused."""
    server_of_users.refused()
    return server_of_users


def test_a_server_does_not_start_with_a_password_left_out(tmp_path: Path) -> None:
    rules = tmp_path / "users.conf"
    rules.write_text(RULES.read_text())
    server = [find_server().path, "--port", "0", "--dir", tmp_path, "--include", rules]
    ended = subprocess.run(server, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode != 0
    assert "password hash must be exactly 64 characters" in ended.stdout + ended.stderr


def test_every_part_does_its_work_under_its_own_user(
    users: Users, cli: Cli, start_worker: StartWorker
) -> None:
    worker = start_worker(users.url("worker"), job_deadline_seconds=1)
    submit_collect_and_delete(cli, users.url("producer"))
    cancel_pause_and_retry(cli, users.url("producer"))
    operate(cli, users)
    serve(users, cli)
    with HttpServer(users.url("service")) as service:
        answer = httpx.post(f"{service.url}/api/workers/{worker.await_heartbeat().name}/drain")
        assert answer.status_code in {200, 202, 204}, answer.text
    assert worker.await_end() == 0
    assert users.refused() == []


def submit_collect_and_delete(cli: Cli, url: str) -> None:
    cases = write_cases(cli.folder / "cases.jsonl", true_false_cases(3000))
    batch = submit(cli, url, cases)
    assert cli("watch", batch, redis_url=url).status == 100
    results = cli("results", batch, redis_url=url)
    assert len(results.out.splitlines()) == 3000
    assert cli("status", batch, "--json", redis_url=url).json["status"] == "completed"
    assert batch in cli("batches", redis_url=url).out
    assert cli("workers", redis_url=url).status == 0
    assert cli("delete", batch, redis_url=url).status == 0
    assert cli("status", batch, redis_url=url).status == 1


def cancel_pause_and_retry(cli: Cli, url: str) -> None:
    assert cli("pause", "--queue", "weighbridge", redis_url=url).status == 0
    cases = write_cases(cli.folder / "other.jsonl", true_false_cases(500))
    batch = submit(cli, url, cases, "--priority", "high")
    assert cli("pause", batch, redis_url=url).status == 0
    assert cli("unpause", "--queue", "weighbridge", redis_url=url).status == 0
    assert cli("unpause", batch, redis_url=url).status == 0
    assert cli("watch", batch, redis_url=url).status == 100
    doubtful = [hazard_case("k", "kills-itself"), hazard_case("l", "loops"), *true_false_cases(9)]
    batch = submit(cli, url, write_cases(cli.folder / "doubtful.jsonl", doubtful))
    assert cli("watch", batch, redis_url=url).status == 100
    assert cli("retry", batch, redis_url=url).status == 0
    assert cli("cancel", batch, redis_url=url).status == 0


def submit(cli: Cli, url: str, cases: Path, *options: str) -> str:
    ended = cli("submit", cases, *options, redis_url=url)
    assert ended.status == 0, ended.err
    return ended.out.split()[0]


def operate(cli: Cli, users: Users) -> None:
    url = users.url("operator")
    checked = cli("doctor", "--json", redis_url=url)
    assert {row["subject"] for row in checked.json} <= {"workers", "dead letters"}, checked.out
    made = cli("keys", "make", "spare", "--role", "read", "--json", redis_url=url)
    assert made.status == 0, made.err
    assert cli("keys", "list", redis_url=url).status == 0
    assert cli("keys", "revoke", made.json["id"], redis_url=url).status == 0


def serve(users: Users, cli: Cli) -> None:
    made = cli(
        *("keys", "make", "ann", "--role", "admin", "--json"), redis_url=users.url("operator")
    )
    headers = {"Authorization": f"Bearer {made.json['key']}"}
    with (
        HttpServer(users.url("service"), keys_required=True) as service,
        httpx.Client(base_url=service.url, headers=headers, timeout=30) as http,
    ):
        answer = http.post(
            "/api/batches",
            content=lines_of(true_false_cases(200)),
            headers=NDJSON | {"Idempotency-Key": "once"},
        )
        assert answer.status_code == 201, answer.text
        batch = answer.json()["batch_id"]
        eventually(lambda: http.get(f"/api/batches/{batch}").json()["status"] == "completed", 60)
        for path in (
            *("/readyz", "/metrics", "/api/workers", "/api/batches", "/batches", "/workers"),
            *(f"/api/batches/{batch}/results", f"/api/batches/{batch}/results?verdict=fail"),
            *(f"/batches/{batch}", f"/batches/{batch}/results"),
        ):
            assert http.get(path, follow_redirects=True).status_code == 200, path
        assert http.post(f"/api/batches/{batch}/retry").status_code < 300
        assert http.delete(f"/api/batches/{batch}").status_code < 300


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
        "DEBUG SLEEP 0",
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
    with server_of_users.connect(name) as connection, pytest.raises(redis.NoPermissionError):
        connection.execute_command(*command.split(" "))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("producer", "HGETALL wb:api_keys"),
        ("producer", "HSET wb:api_keys id {}"),
        ("producer", "XREVRANGE wb:audit + -"),
        ("producer", "SET wb:{fleet}:worker:w {}"),
        ("producer", "SET wb:{fleet}:drain:w 1"),
        ("producer", "SET wb:{fleet}:sweeper w"),
        ("producer", "BRPOP weighbridge 1"),
        ("producer", "CONFIG GET requirepass"),
        ("worker", "HGETALL wb:api_keys"),
        ("worker", "HSET wb:api_keys id {}"),
        ("worker", "ZRANGE wb:{fleet}:batches 0 -1"),
        ("worker", "XADD wb:audit * entry {}"),
        ("worker", "CONFIG GET requirepass"),
        ("service", "HSET wb:api_keys id {}"),
        ("service", "HDEL wb:api_keys id"),
        ("service", "SET wb:{fleet}:worker:w {}"),
        ("service", "BRPOP weighbridge 1"),
        ("service", "CONFIG GET requirepass"),
        ("operator", "SET wb:{fleet}:worker:w {}"),
        ("operator", "BRPOP weighbridge 1"),
    ],
)
def test_a_user_may_not(server_of_users: Users, name: str, command: str) -> None:
    with server_of_users.connect(name) as connection, pytest.raises(redis.NoPermissionError):
        connection.execute_command(*command.split(" "))


@pytest.mark.parametrize("name", ["producer", "worker"])
def test_a_script_reads_no_more_than_its_user_may(server_of_users: Users, name: str) -> None:
    with server_of_users.connect(name) as connection:
        script = connection.script_load("return redis.call('HGETALL', 'wb:api_keys')")
        with pytest.raises(redis.exceptions.ResponseError, match=r"ACL|permission"):
            connection.evalsha(script, 0)


def test_nobody_comes_in_without_a_user(server_of_users: Users) -> None:
    url = re.sub(r"//.*@", "//", server_of_users.url("admin"))
    with redis.Redis.from_url(url) as nobody, pytest.raises(redis.AuthenticationError):
        nobody.ping()


def test_the_documentation_names_every_user_of_the_file() -> None:
    told = (RULES.parents[1] / "docs/deployment.md").read_text()
    named = re.findall(r"^user (weighbridge-\w+) ", RULES.read_text(), re.MULTILINE)
    assert named == [f"weighbridge-{name}" for name in USERS]
    assert [name for name in named if f"`{name}`" not in told] == []
