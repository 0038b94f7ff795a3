"""`--json`: every command has it, and writes one JSON value, or one on each line where it runs on."""

from __future__ import annotations

import shutil
import signal
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from generators.commands import every_command
from support.cases import true_false_cases, write_cases
from support.cli import Cli
from support.examples import SHOP_AGENT
from support.waiting import eventually
from weighbridge.store.api_keys import ApiKeys, Role
from weighbridge_producer.cli.commands import run_app
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

RESULTS = "results.jsonl"
#: Arguments of each command, where BATCH, RETRIED, DOOMED and KEY are created for it. Commands with None keep running
#: and have separate tests below.
ARGUMENTS: dict[str, list[str] | None] = {
    "init": ["new"],
    "run": ["cases.jsonl", "--workers", "1", "-o", "run.jsonl"],
    "submit": ["cases.jsonl"],
    "status": ["BATCH"],
    "watch": ["BATCH"],
    "results": ["BATCH"],
    "cancel": ["BATCH"],
    "retry": ["RETRIED"],
    "pause": ["--queue", "weighbridge"],
    "unpause": ["--queue", "weighbridge"],
    "delete": ["DOOMED"],
    "batches": [],
    "dead-letters": [],
    "verify": [RESULTS, "cases.jsonl"],
    "compare": [RESULTS, RESULTS],
    "baseline set": ["main", RESULTS],
    "baseline list": [],
    "baseline delete": ["main"],
    "sweep": [RESULTS, "--label", "true-false", "--param", "score"],
    "serve": None,
    "audit": [],
    "worker": None,
    "workers": [],
    "drain": ["all"],
    "doctor": [],
    "settings": [],
    "errors": [],
    "graders": [],
    "graders show": ["loop"],
    "graders profile": ["true-false", "cases.jsonl"],
    "trace show": [str(SHOP_AGENT)],
    "trace check": [str(SHOP_AGENT)],
    "trace convert": [str(SHOP_AGENT), "-o", "native.jsonl"],
    "trace formats": [],
    "trace map": ["own.jsonl"],
    "keys make": ["me", "--role", "read"],
    "keys list": [],
    "keys revoke": ["KEY"],
    "completion": ["bash"],
}


def names() -> list[str]:
    return [path.partition(" ")[2] for path, _ in every_command()]


def test_every_command_has_the_option() -> None:
    without = [
        path
        for path, command in every_command()
        if not any("--json" in parameter.opts for parameter in command.params)
    ]
    assert without == []
    assert set(names()) == set(ARGUMENTS)


@pytest.fixture(scope="module")
def made(own: EmbeddedServer) -> dict[str, str]:
    """The files, batches and keys that the commands are called with."""
    with RedisClient(own.url) as client:
        # Without workers a retried batch never ends, so no other test may use it.
        ended, retried, doomed = (client.submit(true_false_cases(3)) for _ in range(3))
        ended.cancel()
        retried.cancel()
        key, _ = ApiKeys(client.store.redis).make("x", Role.READ)
    return {"BATCH": ended.id, "RETRIED": retried.id, "DOOMED": doomed.id, "KEY": key.id}


@pytest.fixture(scope="module")
def results(worker: WorkerProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a run on the cases that the commands are called with."""
    folder = tmp_path_factory.mktemp("results")
    cases, results = write_cases(folder / "cases.jsonl", true_false_cases(3)), folder / RESULTS
    cli = Cli(folder, preloaded=True)
    try:
        ended = cli("run", cases, "--workers", "1", "-o", results, redis_url=worker.url)
    finally:
        cli.clean_up()
    assert ended.status == 100, ended.err
    return results


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server without workers and without data of other tests."""
    from weighbridge.embedded.server import EmbeddedServer as Server

    with Server.start(tmp_path_factory.mktemp("own"), maxmemory_bytes=2**28) as server:
        yield server


@pytest.fixture
def value(
    own: EmbeddedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Callable[..., Any]:
    """Run a command, and return the one JSON value that it wrote."""
    write_cases(tmp_path / "cases.jsonl", true_false_cases(3))
    (tmp_path / "own.jsonl").write_text('{"tool_name": "search", "args": {}}\n' * 2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEIGHBRIDGE_STATE_DIR", str(tmp_path / "state"))

    def value(*words: str, on: str = own.url) -> Any:
        monkeypatch.setenv("WEIGHBRIDGE_REDIS_URL", on)
        with pytest.raises(SystemExit) as ended:
            run_app([*words, "--json"])
        written = capfdbinary.readouterr()
        # These commands find problems here, which must be reported as JSON too.
        troubled = words[0] in {"doctor", "watch"}
        assert troubled or ended.value.code in {0, None, 100}, written.err.decode()
        return orjson.loads(written.out)

    return value


@pytest.mark.parametrize("name", [name for name, words in ARGUMENTS.items() if words is not None])
def test_a_command_writes_one_json_value(
    name: str,
    value: Callable[..., Any],
    made: dict[str, str],
    worker: WorkerProcess,
    results: Path,
) -> None:
    if name == "run":
        assert value("run", *ARGUMENTS["run"] or (), on=worker.url)["outputs"] == ["run.jsonl"]
        return
    shutil.copy(results, RESULTS)
    if name == "baseline delete":
        value("baseline", "set", "main", RESULTS)
    words = [made.get(word, word) for word in ARGUMENTS[name] or ()]
    assert value(*name.split(), *words) is not None


def test_results_are_one_value_with_the_cursor_after_them(
    value: Callable[..., Any], made: dict[str, str]
) -> None:
    found = value("results", made["BATCH"])
    assert [each["custom_id"] for each in found["results"]] == ["c0", "c1", "c2"]
    assert value("results", made["BATCH"], "--cursor", found["cursor"])["results"] == []
    assert value("results", made["BATCH"], "--sort")["results"] == found["results"]
    assert value("results", made["BATCH"], "-o", "r.csv")["outputs"] == ["r.csv"]
    [cause] = value("results", made["BATCH"], "--causes")["causes"]
    assert (cause["cause"], cause["jobs"]) == ("cancelled", 3)


def test_a_service_tells_what_happens_as_json_line_by_line(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(3))
    words = ("--embedded", "--workers", "1", "--port", "0", "--submit", cases, "--json")
    try:
        process = cli.fork("serve", *words)
        assert process.stdout
        told = [orjson.loads(process.stdout.readline()) for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
    finally:
        cli.clean_up()
    assert (process.returncode, rest) == (0, b"")
    assert told[0]["url"].startswith("http://127.0.0.1:")
    assert told[0]["keys_required"] is False
    assert (told[1]["submitted"], told[2]["counts"]["failed"]) == (told[2]["graded"], 1)


def test_a_worker_logs_json_line_by_line(tmp_path: Path, own: EmbeddedServer) -> None:
    cli = Cli(tmp_path)
    try:
        process = cli.fork(
            *("worker", "--concurrency", "1", "--json"), settings={"redis_url": own.url}
        )
        with RedisClient(own.url) as client:
            eventually(client.workers, 60, "the worker")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    finally:
        cli.clean_up()
    # Celery itself logs the request to stop as plain text.
    lines = [line for line in (out + err).splitlines() if line and not line.startswith(b"worker: ")]
    assert lines
    assert all(isinstance(orjson.loads(line), dict) for line in lines)
