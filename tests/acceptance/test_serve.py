"""`weighbridge serve` and `weighbridge keys` as processes: start, operation, stop, and cleanup."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from support import requests
from support.http import ServeProcess
from support.waiting import eventually
from weighbridge_producer.server import GRACE_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli import Cli
    from weighbridge.embedded.server import EmbeddedServer

CASE = '{"custom_id": "capital", "grader": "string-match", "inputs": {"agent_response": "%s", "expected_output": "Paris"}}\n'


@pytest.fixture
def cases(cli: Cli) -> Path:
    path = cli.folder / "cases.jsonl"
    path.write_text(CASE % "Paris" + CASE.replace("capital", "other") % "Rome")
    return path


def serve(cli: Cli, *options: str, preloaded: bool = True, **settings: object) -> ServeProcess:
    named = {f"WEIGHBRIDGE_{name.upper()}": str(value) for name, value in settings.items()}
    return ServeProcess(cli.environment | named, *options, preloaded=preloaded, folder=cli.folder)


def unseen_worker(cli: Cli, seen: set[int]) -> psutil.Process | None:
    """Return the main process of the worker that runs, unless it was seen before."""
    with suppress(psutil.Error):  # one may end while it is looked at
        found = cli.worker()
        return found if found and found.pid not in seen else None
    return None


# --- A private server -------------------------------------------------------------------------------


@pytest.mark.slow
def test_embedded_brings_everything_submits_names_a_failure_and_has_the_batch_at_the_next_start(
    cli: Cli, cases: Path
) -> None:
    with serve(cli, "--embedded", "--workers", "1", "--submit", str(cases)) as service:
        batch = service.await_line("submitted: ").rsplit("/", 1)[1]
        assert service.await_line("graded: ") == "graded: 1 of 2 jobs passed, 1 failed"
        failure = service.await_line("one that failed: ").removeprefix("one that failed: ")
        said = "\n".join(service.said)
        assert "API keys are off" in said
        assert str(cli.state / "serve") in said
        state = requests.get(f"{service.url}/api/batches/{batch}").json()
        assert state["counts"]["failed"] == 1
        shown = requests.get(failure, headers={"Accept": "text/html"})
        assert shown.status_code == 200
        assert "Rome" in shown.text
        status, err = service.end()
        assert (status, err) == (0, "")
    cli.await_silence()
    with serve(cli, "--embedded", "--workers", "1") as service:
        state = requests.get(f"{service.url}/api/batches/{batch}").json()
        assert state["status"] == "completed"
        service.end()
    cli.await_silence()


@pytest.mark.slow
def test_rows_are_submitted_with_a_mapping_and_all_outcomes_are_counted(cli: Cli) -> None:
    rows = cli.folder / "rows.csv"
    rows.write_text("id,answer,gold\nq1,a,a\nq2,a\n")
    submitted = ("--embedded", "--workers", "1", "--submit", str(rows), "--grader", "string-match")
    mapped = ("--map", "custom_id=id,agent_response=answer,expected_output=gold")
    with serve(cli, *submitted, *mapped) as service:
        graded = service.await_line("graded: ")
        assert graded == "graded: 1 of 2 jobs passed, 0 failed, 1 errored"
        service.end()
    ended = cli("serve", *submitted)
    assert (ended.status, "MAPPING_NEEDED" in ended.err) == (1, True)
    assert cli("serve", "--embedded", *mapped).status == 2


@pytest.mark.slow
def test_ctrl_c_ends_everything_and_leaves_no_process(cli: Cli) -> None:
    with serve(cli, "--embedded", "--workers", "2", preloaded=False) as service:
        eventually(lambda: len(cli.processes()) >= 5, 60, "server, worker and children")
        status, err = service.end(signal.SIGINT)
        assert (status, err) == (0, "")
    cli.await_silence()
    assert list(cli.temporary.iterdir()) == []


@pytest.mark.slow
def test_a_service_shares_its_folder_with_no_other_and_takes_its_server_and_workers_with_it_if_killed(
    cli: Cli,
) -> None:
    with serve(cli, "--embedded", "--workers", "1") as service:
        eventually(cli.worker, 30, "the worker")
        ended = cli("serve", "--embedded", "--port", "0")
        assert ended.status == 1
        assert "another private server" in ended.err
        assert cli.worker()
        service.kill()
        cli.await_silence(10)


@pytest.mark.slow
def test_a_worker_that_dies_is_started_again_until_the_service_ends_and_says_why(cli: Cli) -> None:
    with serve(cli, "--embedded", "--workers", "1") as service:
        seen = {0}
        for _ in range(6):
            worker = eventually(lambda: unseen_worker(cli, seen), 30, "another worker")
            seen.add(worker.pid)
            worker.kill()
        status, err = service.await_end()
        assert status == 1
        assert "the workers exited 6 times" in err
    cli.await_silence()


# --- A shared server --------------------------------------------------------------------------------


def test_sigterm_ends_event_streams_and_lets_requests_end(cli: Cli, server: EmbeddedServer) -> None:
    from weighbridge_producer.client.redis_client import RedisClient

    with RedisClient(server.url) as client:
        batch = client.open("waits for ever", ())
    with serve(cli, redis_url=server.url) as service:
        first = threading.Event()
        parts: list[str] = []

        def listen() -> None:
            with requests.stream("GET", f"{service.url}/api/batches/{batch.id}/events") as stream:
                for part in stream.iter_text():
                    parts.append(part)
                    first.set()

        with ThreadPoolExecutor(1) as pool:
            listening = pool.submit(listen)
            assert first.wait(20)
            began = time.monotonic()
            status, err = service.end()
            assert time.monotonic() - began < GRACE_SECONDS  # after which the rest is broken off
            listening.result(20)
        assert (status, err) == (0, "")


def test_an_address_that_others_reach_needs_keys_and_says_how_to_make_one(
    cli: Cli, own_server: EmbeddedServer
) -> None:
    with serve(cli, "--host", "0.0.0.0", redis_url=own_server.url) as service:
        service.await_line("Ctrl-C")
        said = "\n".join(service.said)
        assert "there is none yet: weighbridge keys make NAME --role admin" in said
        assert "off" not in said
        address = service.url.replace("0.0.0.0", "127.0.0.1")
        assert requests.get(f"{address}/api/batches").status_code == 401
        service.end()


def test_the_end_of_the_server_is_no_end_of_the_service(cli: Cli, tcp_server: Any) -> None:
    with serve(cli, redis_url=tcp_server.url) as service:
        tcp_server.kill()
        assert requests.get(f"{service.url}/readyz", timeout=30).status_code == 503
        tcp_server.start()
        assert requests.get(f"{service.url}/readyz", timeout=30).status_code == 200
        assert service.end()[0] == 0


def test_without_a_server_it_says_what_would_work(cli: Cli) -> None:
    ended = cli("serve")
    assert ended.status == 1
    assert "--embedded" in ended.err
    assert "Traceback" not in ended.err


def test_a_server_that_does_not_answer_is_told_at_the_start(cli: Cli) -> None:
    ended = cli("serve", "--port", "0", redis_url="redis://:geheim@127.0.0.1:1/0")
    assert ended.status == 1
    assert "REDIS_UNAVAILABLE" in ended.err
    assert "geheim" not in ended.err


def test_a_port_that_is_taken_is_reported(cli: Cli, server: EmbeddedServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = cli("serve", "--port", taken.getsockname()[1], redis_url=server.url)
    assert ended.status == 1
    assert "ADDRESS_UNAVAILABLE" in ended.err


@pytest.mark.parametrize("host", ["no.such.host.invalid", "999.1.1.1", "a" * 300, "\x7f"])
def test_a_host_that_is_none_is_reported(cli: Cli, server: EmbeddedServer, host: str) -> None:
    ended = cli("serve", "--port", "0", "--host", host, redis_url=server.url)
    assert ended.status == 1
    assert "ADDRESS_UNAVAILABLE" in ended.err


@pytest.mark.parametrize(
    "options",
    [
        ("--embedded", "--redis-url", "redis://localhost"),
        ("--workers", "2"),
        ("--folder", "x"),
        ("--port", "65536"),
        ("--embedded", "--workers", "0"),
    ],
)
def test_options_that_do_not_go_together_are_refused(cli: Cli, options: tuple[str, ...]) -> None:
    ended = cli("serve", *options)
    assert ended.status == 2
    assert "Traceback" not in ended.err


def test_graders_that_nobody_knows_are_refused_before_anything_starts(cli: Cli) -> None:
    ended = cli("serve", "--embedded", "--submit", "x.jsonl", "--grader", "budgt")
    assert ended.status == 1
    assert "UNKNOWN_GRADER" in ended.err


def test_the_help_of_the_command_line_loads_no_web_framework(cli: Cli) -> None:
    code = (
        "import sys\nfrom weighbridge_producer.cli import commands\n"
        "sys.exit(bool({'fastapi', 'starlette', 'uvicorn', 'jinja2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- Keys -------------------------------------------------------------------------------------------


def test_a_key_is_made_shown_once_listed_asked_for_and_revoked(
    cli: Cli, own_server: EmbeddedServer
) -> None:
    made = cli("keys", "make", "ci", "--role", "submit", "--days", "2", redis_url=own_server.url)
    assert made.status == 0
    token = made.out.strip()
    assert token.startswith("wbk_")
    assert token not in made.err
    listed = cli("keys", "list", "--json", redis_url=own_server.url)
    [key] = listed.json
    assert (key["name"], key["role"]) == ("ci", "submit")
    assert key["expires_at"] - key["created_at"] == pytest.approx(2 * 24 * 3600)
    assert token.split("_", 2)[2] not in listed.out
    with serve(cli, "--require-keys", redis_url=own_server.url) as service:
        assert requests.get(f"{service.url}/api/batches").status_code == 401
        headers = {"Authorization": f"Bearer {token}"}
        assert requests.get(f"{service.url}/api/batches", headers=headers).status_code == 200
        revoked = cli("keys", "revoke", key["id"], redis_url=own_server.url)
        assert revoked.status == 0
        assert requests.get(f"{service.url}/api/batches", headers=headers).status_code == 401
        service.end()
    assert cli("keys", "list", "--json", redis_url=own_server.url).json == []


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("make", "x"), 2),
        (("make", "x", "--role", "root"), 2),
        (("make", "x", "--role", "read", "--days", "0"), 1),
        (("make", "x", "--role", "read", "--days", "nan"), 1),
        (("make", "x", "--role", "read", "--days", "-1"), 1),
        (("make", "", "--role", "read"), 1),
        (("make", "x\ny", "--role", "read"), 1),
        (("revoke", "no-such-key"), 1),
    ],
)
def test_what_is_no_key_is_refused_in_words(
    cli: Cli, server: EmbeddedServer, arguments: tuple[str, ...], status: int
) -> None:
    ended = cli("keys", *arguments, redis_url=server.url)
    assert ended.status == status
    assert ended.err
    assert "Traceback" not in ended.err


def test_a_name_is_no_id_and_tells_the_ids_that_it_may_mean(
    cli: Cli, own_server: EmbeddedServer
) -> None:
    cli("keys", "make", "ci", "--role", "read", redis_url=own_server.url)
    [key] = cli("keys", "list", "--json", redis_url=own_server.url).json
    ended = cli("keys", "revoke", "ci", redis_url=own_server.url)
    assert ended.status == 1
    assert ended.err == f"ci is a name; run: weighbridge keys revoke {key['id']}\n"
    cli("keys", "make", "ci", "--role", "read", redis_url=own_server.url)
    ids = [key["id"] for key in cli("keys", "list", "--json", redis_url=own_server.url).json]
    ended = cli("keys", "revoke", "ci", redis_url=own_server.url)
    assert ended.err == f"ci is the name of 2 keys; give the id of one: {', '.join(ids)}\n"


def test_keys_are_listed_as_a_table_for_people(cli: Cli, own_server: EmbeddedServer) -> None:
    cli("keys", "make", "\x1b[31mred[bold]", "--role", "read", redis_url=own_server.url)
    cli("keys", "make", "plain [bold]name", "--role", "read", redis_url=own_server.url)
    listed = cli("keys", "list", redis_url=own_server.url)
    assert listed.status == 0
    assert "plain [bold]name" in listed.out
    assert "until revoked" in listed.out
    assert "\x1b" not in listed.out
