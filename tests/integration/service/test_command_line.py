"""The command line with --url: its output for a service with keys is the same as for the Redis server behind it."""

from __future__ import annotations

import re
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
import pytest

from support.cases import results_by_id, true_false_cases, write_cases
from support.chunks import a_batch, filled
from support.cli import Cli
from support.cutting import CuttingProxy
from support.grading import grade_open_chunks
from support.http import HttpServer
from support.servers import free_port
from support.waiting import eventually
from weighbridge_producer import Client
from weighbridge_producer.cli.commands import run_app
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

CASES = list(true_false_cases(60))
#: The time of day, and what a worker's next heartbeat changes: the number of its jobs, and for how long it has been up.
_CHANGING = re.compile(rb"\d\d:\d\d:\d\d|(?<= )[\d,]+ +\d+ (?:s|min|h)(?= )")


@dataclass(frozen=True)
class Ended:
    """Result of a command."""

    status: int
    out: bytes
    err: str


Run = "Callable[..., Ended]"


@pytest.fixture(scope="module")
def guarded(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, keys_required=True, chunk_limit_jobs=10) as service:
        yield service


@pytest.fixture(scope="module")
def admin(guarded: HttpServer) -> str:
    return guarded.make_key("admin", "boss")


@pytest.fixture(scope="module")
def submitter(guarded: HttpServer) -> str:
    return guarded.make_key("submit", "ci", "ours")


@pytest.fixture(scope="module")
def batches(server: EmbeddedServer, worker: WorkerProcess) -> list[str]:
    """Two batches that have ended, the second with other answers."""
    with RedisClient(server.url) as client:
        made = [client.submit(CASES), client.submit([*CASES[3:], *true_false_cases(3, first=500)])]
        for batch in made:
            batch.wait(60)
        return [batch.id for batch in made]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
) -> Run:
    """Run a command in this process; `key` is the API key that its environment has."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object, key: str = "") -> Ended:
        if key:
            monkeypatch.setenv("WEIGHBRIDGE_API_KEY", key)
        status = 0
        try:
            run_app(list(map(str, words)))
        except SystemExit as ended:
            status = int(ended.code or 0)
        captured = capfdbinary.readouterr()
        return Ended(status, captured.out, captured.err.decode())

    return run


@pytest.mark.parametrize(
    "command",
    [
        "status A",
        "status A --json",
        "status A --by metadata.part",
        "watch A",
        "watch A --min-pass-rate 0.99 --json",
        "results A --sort",
        "results A --failed --sort -o csv=-",
        "results A --causes",
        "results A --by metadata.part --min-pass-rate 0.99",
        "results A --sort --with-cases",
        "results A --id c7",
        "results A --id nope",
        "results A --cursor 0/0",
        "results A --cursor nonsense",
        "batches --most 3",
        "batches --most 2 --json",
        "batches --project nobodys",
        "compare A B",
        "compare A B --json --max-regressions 0",
        "baseline set main A",
        "sweep A --label true-false --param score",
        "cancel A",
        "cancel A --json",
        "retry A",
        "pause A",
        "unpause A",
        "pause --queue other",
        "unpause --queue other",
        "dead-letters",
        "dead-letters --json",
        "audit --batch A --most 1",
        "audit --project nobodys --since 1d",
        "workers",
        "drain nobody",
        "doctor",
        "keys list",
        "keys revoke nope",
        "graders",
        "graders --json",
        "graders show true-false",
        "graders show nope",
        "status wb_nope",
        "watch wb_nope",
        "results wb_nope",
        "cancel wb_nope",
        "retry wb_nope",
        "delete wb_nope",
        "status a/b",
        "submit missing.jsonl",
        "submit {cases} --grader nope",
        "submit {cases} --grader true-false --config colour=1",
        "submit {cases} --project no/project",
        "submit {cases} --resume wb_nope",
        "keys make '' --role read",
        "keys make x --role read --days -1",
    ],
)
def test_a_command_says_the_same_of_a_service_as_of_redis(
    command: str,
    run: Callable[..., Ended],
    server: EmbeddedServer,
    guarded: HttpServer,
    admin: str,
    batches: list[str],
    tmp_path: Path,
) -> None:
    names = dict(zip("AB", batches, strict=True)) | {
        "{cases}": str(write_cases(tmp_path / "cases.jsonl", CASES)),
        "''": "",
    }
    words = [names.get(word, word) for word in command.split()]
    direct = {"graders": []}.get(words[0], ["--url", server.url])
    of_redis = run(*words, *direct)
    of_service = run(*words, "--url", guarded.url, key=admin)
    assert plain(of_service, guarded.url) == plain(of_redis, server.url)


@pytest.mark.parametrize(
    "options", [["--min-pass-rate", "0.5"], ["--max-regressions", "0"], ["--fail-on-regression"]]
)
def test_no_gate_is_met_by_a_comparison_with_a_batch_that_is_not_completed(
    run: Callable[..., Ended], server: EmbeddedServer, options: list[str]
) -> None:
    with RedisClient(server.url) as client:
        batch = client.batch(a_batch(client.store, "of-this-test"))
        filled(client.store, batch.id, [3], seal=False)
        grade_open_chunks(client.store, batch.id)
        compare = ("compare", batch.id, batch.id, "--url", server.url)
        assert run(*compare).status == 0
        ended = run(*compare, *options)
        assert ended.status == 1
        assert f"seen batch {batch.id} is in_progress" in ended.err
        batch.cancel()
        assert "is cancelled" in run(*compare, *options).err


def test_a_server_without_dead_letters_is_said_to_have_none(
    run: Callable[..., Ended], own_server: EmbeddedServer
) -> None:
    ended = run("dead-letters", "--url", own_server.url)
    assert (ended.status, ended.out, ended.err) == (0, b"", "there are no dead letters\n")


def plain(ended: Ended, url: str) -> tuple[int, bytes, str]:
    """Return a command's output without its own address, and without what may change from one command to the next."""
    out = _CHANGING.sub(b"CHANGES", ended.out.replace(url.encode(), b"URL"))
    return ended.status, out, ended.err.replace(url, "URL")


def test_a_batch_is_submitted_watched_and_read_with_a_key(
    run: Callable[..., Ended],
    guarded: HttpServer,
    submitter: str,
    worker: WorkerProcess,
    tmp_path: Path,
) -> None:
    table, truths = tmp_path / "rows.csv", tmp_path / "truths.csv"
    table.write_text("id,answer\n" + "".join(f"r{n},yes\n" for n in range(30)))
    truths.write_text("id,truth\n" + "".join(f"r{n},{n % 3 > 0}\n" for n in range(31)))
    mapping = "custom_id=id,agent_response=answer,expected_output=right.truth"
    join = ("--join", f"right={truths}", "--on", "id")
    url = ("--url", guarded.url)
    submitted = run(
        *("submit", table, *join, "--map", mapping, "--grader", "true-false", *url), key=submitter
    )
    assert submitted.status == 0, submitted.err
    assert f"{truths}: 1 of 31 rows unused" in submitted.err
    assert "submitted: synced" in submitted.err
    batch = submitted.out.decode().strip()
    watched = run("watch", batch, "--json", *url)
    assert watched.status == 100
    assert orjson.loads(watched.out)["counts"]["failed"] == 10
    failed = run("results", batch, "--failed", *url).out.splitlines()
    assert {orjson.loads(line)["custom_id"] for line in failed} == {
        f"r{n}" for n in range(0, 30, 3)
    }
    [listed] = orjson.loads(run("batches", "--most", "1", "--json", *url).out)
    assert (listed["batch_id"], listed["project"], listed["submitted_by"]) == (batch, "ours", "ci")


def test_traces_of_your_own_format_are_uploaded_in_the_native_form(
    run: Callable[..., Ended],
    guarded: HttpServer,
    submitter: str,
    worker: WorkerProcess,
    tmp_path: Path,
) -> None:
    (tmp_path / "map.yaml").write_text(
        "id: /run\nsteps: /events\nstep: {type: /kind, types: {model: llm}, output: /text}\n"
    )
    traces = tmp_path / "runs.jsonl"
    events = [{"kind": "model", "text": "the same"}] * 5
    traces.write_bytes(
        b"".join(orjson.dumps({"run": f"r{n}", "events": events}) + b"\n" for n in range(3))
    )
    how = ("--trace-mapping", "map.yaml", "--grader", "loop")
    url = ("--url", guarded.url)
    batch = run("submit", traces, *how, *url, key=submitter).out.decode().strip()
    assert run("watch", batch, *url).status in (0, 100)
    run("results", batch, "--sort", "-o", "of_service.jsonl", *url)
    rows = list(map(orjson.loads, (tmp_path / "of_service.jsonl").read_bytes().splitlines()))
    assert [(row["custom_id"], row["status"]) for row in rows] == [
        (f"r{n}", "graded") for n in range(3)
    ]
    proven = run("verify", "of_service.jsonl", traces, *how)
    assert (proven.status, proven.out[:8]) == (0, b"3 proven")


def test_the_environment_names_the_service_as_well(
    run: Callable[..., Ended],
    guarded: HttpServer,
    admin: str,
    batches: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_URL", guarded.url)
    monkeypatch.setenv("WEIGHBRIDGE_REDIS_URL", f"redis://127.0.0.1:{free_port()}")
    shown = run("status", batches[0], "--json", key=admin)
    assert orjson.loads(shown.out)["batch_id"] == batches[0]


class TestKeys:
    def test_without_a_key_the_error_says_how_to_get_one(
        self, run: Callable[..., Ended], guarded: HttpServer
    ) -> None:
        refused = run("batches", "--url", guarded.url)
        assert (refused.status, refused.err.partition(":")[0]) == (1, "KEY_REQUIRED")
        assert "weighbridge keys make" in refused.err

    @pytest.mark.parametrize(
        ("role", "command"),
        [
            ("read", "cancel A"),
            ("read", "submit {cases}"),
            ("submit", "delete A"),
            ("submit", "audit"),
            ("manage", "keys list"),
            ("manage", "doctor"),
            ("manage", "pause --queue weighbridge"),
            ("manage", "drain all"),
        ],
    )
    def test_a_key_does_what_its_role_allows_and_no_more(
        self,
        run: Callable[..., Ended],
        guarded: HttpServer,
        batches: list[str],
        role: str,
        command: str,
        tmp_path: Path,
    ) -> None:
        cases = str(write_cases(tmp_path / "cases.jsonl", CASES))
        words = [{"A": batches[0], "{cases}": cases}.get(word, word) for word in command.split()]
        refused = run(*words, "--url", guarded.url, key=guarded.make_key(role))
        assert (refused.status, refused.err.partition(":")[0]) == (1, "ROLE_TOO_LOW")

    def test_a_key_of_another_project_sees_nothing_of_a_batch(
        self, run: Callable[..., Ended], guarded: HttpServer, batches: list[str]
    ) -> None:
        key = guarded.make_key("manage", project="theirs")
        told = [
            run(*words, "--url", guarded.url, key=key).err
            for words in (("status", batches[0]), ("status", "wb_nope"), ("delete", batches[0]))
        ]
        assert told[0].replace(batches[0], "wb_nope") == told[1]
        assert all(text.startswith("BATCH_NOT_FOUND") for text in told)
        assert not orjson.loads(run("batches", "--json", "--url", guarded.url).out)

    def test_an_admin_makes_keys_that_open_and_revokes_them(
        self, run: Callable[..., Ended], guarded: HttpServer, admin: str
    ) -> None:
        url = ("--url", guarded.url)
        made = orjson.loads(
            run("keys", "make", "bot", "--role", "read", "--json", *url, key=admin).out
        )
        assert run("batches", *url, key=made["key"]).status == 0
        revoked = run("keys", "revoke", made["id"], *url, key=admin)
        assert revoked.out == f"key {made['id']} is revoked\n".encode()
        refused = run("batches", *url, key=made["key"])
        assert (refused.status, refused.err.partition(":")[0]) == (1, "KEY_REFUSED")
        entries = orjson.loads(run("audit", "--json", "--most", "2", *url, key=admin).out)
        assert [(each["action"], each["actor"]) for each in entries] == [
            ("revoke-key", "boss"),
            ("make-key", "boss"),
        ]


class TestAddresses:
    @pytest.mark.parametrize(
        ("url", "told"),
        [
            ("ftp://host/", "has the unknown scheme 'ftp'"),
            ("redis+magic://host", "has the unknown scheme 'redis+magic'"),
            ("localhost:8000", "has no scheme such as http://"),
            ("", "neither a Redis server nor a service is named"),
            ("http://", "is not the URL of a service"),
        ],
    )
    def test_a_url_that_is_of_neither_kind_is_told_with_those_that_are(
        self, run: Callable[..., Ended], url: str, told: str
    ) -> None:
        refused = run("batches", "--url", url)
        assert (refused.status, refused.out) == (1, b"")
        assert told in refused.err
        assert "http://" in refused.err or "WEIGHBRIDGE_URL" in refused.err

    @pytest.mark.parametrize("command", ["worker", "serve"])
    def test_what_stands_on_redis_refuses_the_url_of_a_service(
        self, run: Callable[..., Ended], command: str
    ) -> None:
        refused = run(command, "--redis-url", "http://127.0.0.1:8000")
        assert refused.status == 1
        assert "not a Redis URL" in refused.err

    @pytest.mark.parametrize("command", ["worker", "serve"])
    def test_what_stands_on_redis_says_what_names_a_server(
        self, run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, command: str
    ) -> None:
        monkeypatch.delenv("WEIGHBRIDGE_REDIS_URL", raising=False)
        refused = run(command)
        assert refused.status == 1
        assert "no Redis server is named" in refused.err
        assert "--redis-url or WEIGHBRIDGE_REDIS_URL" in refused.err

    def test_where_nothing_answers_every_command_says_so(self, run: Callable[..., Ended]) -> None:
        url = f"http://127.0.0.1:{free_port()}"
        refused = run("batches", "--url", url)
        assert refused.status == 1
        assert refused.err.startswith(f"SERVICE_UNAVAILABLE: {url}: nothing answers")
        examined = run("doctor", "--url", url)
        assert examined.status == 1
        assert examined.out.startswith(b"problem: service: SERVICE_UNAVAILABLE")


class TestInterruptions:
    """A server without workers: nothing ends but by the test."""

    @pytest.fixture
    def idle(self, own_server: EmbeddedServer) -> Iterator[HttpServer]:
        with HttpServer(own_server.url, keys_required=True, chunk_limit_jobs=10) as service:
            yield service

    @pytest.fixture
    def cli(self, tmp_path: Path) -> Iterator[Cli]:
        cli = Cli(tmp_path)
        yield cli
        cli.clean_up()

    def test_an_upload_that_is_cut_off_goes_on_and_nothing_is_lost_or_doubled(
        self, run: Callable[..., Ended], idle: HttpServer, tmp_path: Path
    ) -> None:
        cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(3000))
        with CuttingProxy(idle.port) as proxy:
            proxy.cut_upload(100_000)
            key = idle.make_key("submit")
            submitted = run("submit", cases, "--url", proxy.url, "--json", key=key)
            assert proxy.cuts == 1
        assert submitted.status == 0, submitted.err
        assert "waiting: " in submitted.err
        state = orjson.loads(submitted.out)
        assert (state["sealed"], state["lines"], state["counts"]["total"]) == (True, 3000, 3000)

    def test_an_interrupted_submission_names_the_command_that_continues_it(
        self, cli: Cli, run: Callable[..., Ended], idle: HttpServer, tmp_path: Path
    ) -> None:
        cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(100))
        settings = {"api_key": idle.make_key("submit")}
        started = cli.start("submit", "-", "--url", idle.url, settings=settings)
        assert started.stdin
        started.stdin.write(b"".join(cases.read_bytes().splitlines(keepends=True)[:50]))
        started.stdin.flush()
        [batch] = eventually(lambda: _with_lines(idle), 30)
        started.send_signal(signal.SIGINT)
        told = started.communicate(timeout=30)[1].decode()
        assert started.returncode == 1
        assert f"batch {batch} keeps what was submitted" in told
        again = run(
            *("submit", cases, "--resume", batch, "--json", "--url", idle.url),
            key=settings["api_key"],
        )
        assert again.status == 0, again.err
        assert orjson.loads(again.out)["counts"]["total"] == 100
        entries = [str(entry.action) for entry in idle.service.client.batch(batch).history()]
        assert entries == ["submit", "resume"]
        grade_open_chunks(idle.service.client.store, batch)
        with Client(idle.url, key=settings["api_key"]) as client:
            assert len(results_by_id(client.batch(batch))) == 100

    def test_a_watch_that_is_interrupted_ends_soon_and_leaves_the_batch(
        self, cli: Cli, idle: HttpServer
    ) -> None:
        batch = idle.service.client.submit(true_false_cases(10))
        settings = {"api_key": idle.make_key("read")}
        watching = cli.fork(
            "watch", batch.id, "--url", idle.url, settings=settings, stderr=subprocess.STDOUT
        )
        eventually(lambda: idle.service.listeners.taken, 30, "the watch")
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=10)
        assert watching.returncode == 1
        assert not batch.status().status.final


def _with_lines(service: HttpServer) -> list[str]:
    """Return the batches of which something has arrived."""
    return [state.batch_id for state in service.service.client.batches() if state.lines]
