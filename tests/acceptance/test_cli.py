"""The commands for batches and workers on a shared server, with a real worker."""

from __future__ import annotations

import csv
import gzip
import os
import re
import signal
import socket
import sys
from pathlib import Path

import orjson
import pytest

from support.cases import hazard_case, true_false_cases, write_cases
from support.examples import SHOP_AGENT
from support.http import HttpServer
from support.proxy import Proxy
from support.servers import TcpServer, free_port, newest_program
from support.waiting import eventually
from support.workers import PLUGINS
from weighbridge.graders.registry import default_registry
from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient

BUILT_IN = ["string-match", "true-false", "budget", "loop", "tool-schema"]
UNKNOWN_BATCH = "wb_67000000_1_00000000000000000000"


@pytest.fixture
def shared(cli, server, worker):
    """The command line, on everybody's server."""
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = server.url
    return cli


@pytest.fixture
def cases(tmp_path):
    """Twelve cases in a file: eight pass, four fail."""
    return write_cases(tmp_path / "cases.jsonl", true_false_cases(12))


def test_submitting_an_input_without_cases_is_no_success(shared, tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"\n")
    ended = shared("submit", "empty.jsonl", "-g", "loop")
    assert ended.status == 1
    assert "exit status 1: NO_CASES: empty.jsonl has no cases; batch wb_" in ended.err


def test_submit_says_how_safe_the_batch_is(cli, tmp_path, cases):
    folder = tmp_path / "server"
    folder.mkdir()
    with TcpServer(folder, program=newest_program()) as server:
        ended = cli("submit", cases.name, redis_url=server.url)
        assert "submitted: synced to disk, as the Redis server reports" in ended.err.splitlines()
        assert ended.out.startswith("wb_")
        ended = cli("submit", cases.name, "--json", redis_url=server.url)
        assert ended.json["durability"]["disk"] is True
        assert ended.json["durability"]["text"] == "synced to disk, as the Redis server reports"
        assert "submitted:" not in ended.err


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "JSON"])
def test_an_input_that_breaks_off_is_submitted_as_far_as_it_goes_with_exit_1(
    shared, cases, options
):
    packed = gzip.compress(cases.read_bytes(), compresslevel=0)
    (shared.folder / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    ended = shared("submit", "cut.jsonl.gz", *options)
    assert ended.status == 1
    assert "INPUT_TRUNCATED: line 6: the compressed input ends early" in ended.err
    batch = ended.json["batch_id"] if options else ended.out.strip()
    reason = f"the input was not read to its end; batch {batch} has the cases that were read"
    assert f"exit status 1: {reason}" in ended.err.splitlines()
    if options:
        assert ended.json["unread"]["code"] == "INPUT_TRUNCATED"
    shared("watch", batch)
    counts = shared("status", batch, "--json").json["counts"]
    assert (counts["graded"], counts["errored"]) == (5, 1)
    again = shared("submit", "cut.jsonl.gz", "--resume", batch, *options)
    assert (again.status, reason in again.err) == (1, True)


def submitted(shared, *arguments, **settings):
    """Submit a file, wait for its end, and return the batch's id."""
    ended = shared("submit", *arguments, **settings)
    assert ended.status == 0, ended.err
    batch = ended.out.strip()
    shared("watch", batch)
    return batch


def ids_of(text):
    return [orjson.loads(row)["custom_id"] for row in text.splitlines()]


def test_a_batch_is_submitted_watched_shown_listed_and_collected(shared, cases):
    batch = shared("submit", cases.name).out.strip()
    watched = shared("watch", batch)
    assert watched.status == 100
    assert "8/12" in watched.out
    assert shared("watch", batch, "--min-pass-rate", "0.6").status == 0

    status = shared("status", batch)
    assert f"{batch}  completed" in status.out
    assert "12/12 (100.0%) finished" in status.out
    state = shared("status", batch, "--json").json
    assert state["counts"]["passed"] == 8
    assert state["graders"][0]["label"] == "true-false"

    listed = shared("batches", "--most", "100", "--json").json
    assert [b["source"] for b in listed if b["batch_id"] == batch] == [cases.name]
    assert batch in shared("batches", "--most", "100").out

    results = shared("results", batch)
    with cases.open("rb") as lines:
        assert sorted(results.out.encode().splitlines(True)) == sorted(grade_lines(lines))


def test_results_are_picked_by_id_verdict_error_and_label(shared, tmp_path):
    lines = [line | {"grader": None} for line in true_false_cases(6)]
    for line in lines:
        del line["grader"]
    write_cases(tmp_path / "cases.jsonl", [*lines, {"custom_id": "bad"}])
    batch = submitted(shared, "cases.jsonl", "-g", "true-false", "-g", "same=string-match")

    failed = shared("results", batch, "--failed", "--label", "true-false")
    assert sorted(ids_of(failed.out)) == ["c0", "c3"]
    assert ids_of(shared("results", batch, "--errored").out) == ["bad"]
    assert len(ids_of(shared("results", batch, "--failed", "--errored").out)) == 9
    found = [orjson.loads(row) for row in shared("results", batch, "--id", "c1").out.splitlines()]
    assert sorted(row["label"] for row in found) == ["same", "true-false"]
    missing = shared("results", batch, "--id", "c99")
    assert (missing.status, missing.out) == (1, "")
    assert "NO_SUCH_RESULT" in missing.err


def test_results_sorted_into_a_file_are_in_the_order_of_the_input(shared, tmp_path):
    write_cases(tmp_path / "cases.jsonl", true_false_cases(60))
    batch = submitted(shared, "cases.jsonl", chunk_limit_jobs=3)
    assert shared("results", batch, "--sort", "-o", "out.jsonl").out == ""
    assert ids_of((tmp_path / "out.jsonl").read_text()) == [f"c{n}" for n in range(60)]
    ended = shared("results", "out.jsonl", "-o", "again.jsonl", "-o", "tsv=-")
    assert ended.err == "60 results written to again.jsonl (JSON Lines)\n"
    assert shared("results", "out.jsonl", "-o", "again.jsonl", "--json").err == ""
    refused = shared("results", batch, "-o", "none/out.jsonl")
    assert (refused.status, refused.err.partition(":")[0]) == (1, "OUTPUT_UNWRITABLE")


def test_results_of_a_batch_are_written_in_every_form_with_the_timelines_of_failed_traces(
    shared, tmp_path
):
    batch = submitted(shared, str(SHOP_AGENT), "--grader", "loop")
    ended = shared("results", batch, "-o", "r.html", "-o", "r.csv.gz", "-o", "junit=r", "--failed")
    assert (ended.status, ended.out) == (0, "")
    written = (
        "2 results written to r.html (a page in one file), r.csv.gz (a table, gzip), r (JUnit)"
    )
    assert written in ended.err.splitlines()
    text = (tmp_path / "r.html").read_text()
    assert text.count('<ol class="timeline">') == text.count('class="card fail evidence-card"') == 2
    with gzip.open(tmp_path / "r.csv.gz", "rt", newline="") as table:
        rows = list(csv.DictReader(table))
    assert {row["verdict"] for row in rows} == {"fail"}
    assert (tmp_path / "r").read_text().count("<failure ") == 2


def test_what_failed_in_a_batch_is_graded_again_from_new_answers(shared, cases):
    batch = submitted(shared, cases.name)
    ended = shared("run", cases.name, "--only-failed", batch, "--json", "-o", "again.jsonl")
    assert ended.json["batch"]["counts"]["total"] == 4


def test_a_batch_of_a_sample_has_a_source_of_its_own(shared, cases):
    """The web UI shows the pass rates of batches of one source over time."""
    batch = submitted(shared, cases.name, "--sample", "3")
    listed = shared("batches", "--most", "100", "--json").json
    [source] = [each["source"] for each in listed if each["batch_id"] == batch]
    assert source == f"{cases.name} (sample 3)"


def test_a_cursor_goes_on_where_the_last_collection_ended(shared, cases, client):
    first, second = cases.read_bytes().splitlines(True)[:5], cases.read_bytes().splitlines(True)[5:]
    source, sink = os.pipe()
    submit = shared.fork("submit", "-", "--json", stdin=source, settings={"chunk_limit_jobs": 5})
    os.close(source)
    with os.fdopen(sink, "wb") as pipe:
        pipe.write(b"".join(first) + second[0])
        pipe.flush()
        # The chunk is full, so it is graded while more may come.
        batch = eventually(lambda: _newest_with(client, 5), what="the first five results").batch_id
        part = shared("results", batch)
        pipe.write(b"".join(second[1:]))
    assert orjson.loads(submit.communicate(timeout=30)[0])["sealed"]
    cursor = part.err.strip().removeprefix("cursor: ")
    rest = shared("results", batch, "--follow", "--cursor", cursor)
    assert sorted(ids_of(part.out)) == [f"c{n}" for n in range(5)]
    assert sorted(ids_of(part.out) + ids_of(rest.out)) == sorted(f"c{n}" for n in range(12))
    refused = shared("results", batch, "--cursor", "nonsense")
    assert (refused.status, refused.err.partition(":")[0]) == (1, "STALE_CURSOR")


def _newest_with(client, finished):
    found = [
        state
        for state in client.batches(20)
        if state.counts.finished == finished and not state.sealed
    ]
    return found[0] if found else None


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "JSON"])
def test_an_interrupted_submission_says_how_to_go_on_and_that_works(
    cli, tcp_server, tmp_path, options
):
    count = 3_000
    write_cases(tmp_path / "many.jsonl", true_false_cases(count))
    with Proxy(tcp_server.port) as proxy, RedisClient(tcp_server.url) as client:
        cli.environment["WEIGHBRIDGE_REDIS_URL"] = proxy.url
        proxy.delay_seconds = 0.1  # so that submitting the chunks takes seconds
        submit = cli.fork("submit", "many.jsonl", *options, settings={"chunk_limit_jobs": 5})
        eventually(lambda: any(state.lines for state in client.batches()), 30, "a chunk")
        submit.send_signal(signal.SIGINT)
        out, said = submit.communicate(timeout=20)
        proxy.delay_seconds = 0
        assert submit.returncode == 1
        assert b"no worker is running on" in said
        batch, *_ = cli("batches", "--json").json
        assert 0 < batch["lines"] < count
        resume = f"--resume {batch['batch_id']}"
        assert f"weighbridge submit many.jsonl {resume}" in said.decode()
        assert f"weighbridge cancel {batch['batch_id']}" in said.decode()
        if options:
            error = orjson.loads(out)["error"]
            assert error["code"] == "INTERRUPTED"
            assert resume in error["hint"]
        else:
            assert out == b""

        assert cli("submit", "many.jsonl", *resume.split()).status == 0
        state = cli("status", batch["batch_id"], "--json").json
        assert (state["sealed"], state["counts"]["total"]) == (True, count)


def test_a_batch_whose_producer_was_killed_says_that_its_input_is_not_complete(
    cli, tcp_server, start_worker, tmp_path
):
    write_cases(tmp_path / "many.jsonl", true_false_cases(count := 3_000))
    start_worker(tcp_server.url)
    with Proxy(tcp_server.port) as proxy, RedisClient(tcp_server.url) as client:
        proxy.delay_seconds = 0.1  # so that submitting the chunks takes seconds
        settings = {"chunk_limit_jobs": 5, "redis_url": proxy.url}
        submit = cli.start("submit", "many.jsonl", settings=settings)
        eventually(lambda: any(state.lines for state in client.batches()), 30, "a chunk")
        submit.kill()
        submit.communicate(timeout=20)
        [state] = client.batches()
        batch = client.batch(state.batch_id)
        eventually(lambda: batch.status().counts.pending == 0, 30, "the end of what has arrived")
        cli.environment["WEIGHBRIDGE_REDIS_URL"] = tcp_server.url
        arriving = "its input is not complete: more jobs are arriving"
        assert f"in_progress\n  {arriving}\n" in cli("status", batch.id).out
        for command in (("doctor",), ("batches",), ("results", batch.id)):
            ended = cli(*command)
            assert "not complete" not in ended.out + ended.err

        meta = f"wb:{{{batch.id}}}:meta"
        arrived_ms = int(client.store.redis.hget(meta, "arrived_ms"))
        assert abs(arrived_ms / 1000 - client.store.now()) < 60
        client.store.redis.hset(meta, "arrived_ms", arrived_ms - 180_000)
        idle = re.compile(
            r"its input is not complete, and no jobs have arrived for 3 min( \d+ s)?; if its producer has ended,"
            f" `weighbridge submit CASES --resume {batch.id}` continues it\n"
        )
        assert idle.search(cli("status", batch.id).out)
        listed = cli("batches")
        assert "in_progress, input not complete" in listed.out
        assert idle.search(listed.err)
        results = cli("results", batch.id, "--min-pass-rate", "0.1")
        assert results.status == 1
        assert idle.match(results.err)
        assert "the batch is in_progress, and its input is not complete" in results.err
        doctor = cli("doctor").out
        assert f"warning: batches: the input of batch {batch.id} is not complete" in doctor
        assert f"weighbridge submit CASES --resume {batch.id}; or end it" in doctor
        watch = cli.start("watch", batch.id)
        assert idle.match(watch.stderr.readline().decode())

        assert cli("submit", "many.jsonl", "--resume", batch.id).status == 0
        assert watch.wait(60) == 100
        assert f"{count:,}/{count:,} (100.0%) finished" in watch.stdout.read().decode()
        watch.communicate()
        for command in (("status", batch.id), ("batches",), ("doctor",)):
            ended = cli(*command)
            assert "not complete" not in ended.out + ended.err


def test_an_empty_batch_to_resume_is_refused_with_what_to_give(cli, own_server, cases):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    refused = cli("submit", cases.name, "--resume", "")
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith(
        "BATCH_NOT_FOUND: the id of the batch to resume is empty\n  give the"
    )
    assert cli("batches", "--json").json == []


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("command", [("run", "cases.jsonl"), ("batches", "--json")])
def test_a_command_that_is_interrupted_while_it_starts_says_so(cli, cases, command):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the command cannot end by itself
        cli.environment["WEIGHBRIDGE_REDIS_URL"] = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        process = cli.start(*command)
        eventually(lambda: _catches(process.pid, signal.SIGTERM), 30, "the start")
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=20)
    assert process.returncode == 1
    if "--json" in command:
        assert orjson.loads(out)["error"]["code"] == "INTERRUPTED"
    else:
        assert (out, said) == (b"", b"interrupted\n")
    cli.await_silence()


def _catches(pid, number):
    """Return whether a process has set a handler for a signal."""
    (caught,) = re.findall(
        r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE
    )
    return bool(int(caught, 16) & 1 << (number - 1))


def test_an_interrupted_command_writes_a_json_error_if_json_is_asked_for(cli, own_server, tmp_path):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    write_cases(tmp_path / "cases.jsonl", true_false_cases(2))
    batch = cli("submit", "cases.jsonl").out.strip()
    watch = cli.fork("watch", batch, "--json")
    with RedisClient(own_server.url) as client:
        eventually(
            lambda: len(client.store.redis.client_list()) > 1, 30, "the command's connection"
        )
    watch.send_signal(signal.SIGINT)
    out, _ = watch.communicate(timeout=20)
    assert watch.returncode == 1
    assert orjson.loads(out) == {
        "error": {"code": "INTERRUPTED", "message": "the command was interrupted", "hint": ""}
    }


def test_submit_names_a_grader_of_cases_that_no_worker_has(cli, own_server, start_worker, tmp_path):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    start_worker(own_server.url, 1, plug_ins=False)
    write_cases(tmp_path / "new.jsonl", [hazard_case("a", "exits", "stay")])
    ended = cli("submit", "new.jsonl")
    assert ended.status == 0
    assert "no running worker has the grader 'exits', which" in ended.err
    write_cases(tmp_path / "old.jsonl", true_false_cases(2))
    assert "no running worker" not in cli("submit", "old.jsonl").err


def test_a_submission_that_is_refused_says_nothing_of_workers(cli, own_server, cases):
    with HttpServer(own_server.url, keys_required=True) as service:
        for role, status in (("read", 1), ("submit", 0)):
            ended = cli("submit", cases.name, url=service.url, api_key=service.make_key(role))
            assert ended.status == status
            first = "ROLE_TOO_LOW" if status else "no worker is running on"
            assert ended.err.startswith(first)


def test_a_paused_queue_is_told_wherever_its_work_is_awaited(cli, own_server, cases):
    note = (
        "the queue weighbridge is paused; `weighbridge unpause --queue weighbridge` continues it\n"
    )
    with HttpServer(own_server.url, keys_required=True) as service:
        administers, reads, submits = (
            {"url": service.url, "api_key": service.make_key(role)}
            for role in ("admin", "read", "submit")
        )
        assert cli("pause", "--queue", "weighbridge", **administers).status == 0
        submit = cli("submit", cases.name, **submits)
        batch = submit.out.strip()
        assert submit.err.startswith(note)
        assert cli("status", batch, **reads).err == note
        assert cli("workers", **reads).err == note
        cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
        watch = cli.fork("watch", batch)
        assert watch.stderr.readline().decode() == note
        assert cli("unpause", "--queue", "weighbridge", **administers).status == 0
        assert cli("status", batch, **reads).err == ""
        with RedisClient(own_server.url, settings=Settings(queue="nightly")) as other:
            other.submit(true_false_cases(1))
            other.pause_queue("nightly")
        assert cli("status", batch).err == "", "another queue"
        assert cli("cancel", batch, **submits).status == 0
        assert watch.wait(20) == 1


def test_cancel_retry_and_delete(cli, own_server, start_worker, tmp_path):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    write_cases(tmp_path / "cases.jsonl", true_false_cases(12))
    submit = cli("submit", "cases.jsonl")
    assert "no worker is running on" in submit.err
    batch = submit.out.strip()

    cancelled = cli("cancel", batch)
    assert "12 cancelled" in cancelled.out
    watched = cli("watch", batch)
    assert (watched.status, watched.err) == (1, "exit status 1: the batch is cancelled\n")
    assert "12/12" in cli("status", batch).out
    more = cli("submit", "cases.jsonl", "--resume", batch)
    assert "no worker is running on" not in more.err, "no job waits"
    again = cli("cancel", batch)
    assert again.err == "nothing was cancelled: the batch had already ended as cancelled\n"

    start_worker(own_server.url)
    assert cli("retry", batch).out == "12 jobs put back to be graded again\n"
    assert cli("watch", batch).status == 100
    assert cli("status", batch, "--json").json["counts"]["passed"] == 8

    assert cli("delete", batch).status == 0
    gone = cli("status", batch)
    assert (gone.status, gone.err.partition(":")[0]) == (1, "BATCH_NOT_FOUND")
    assert cli("batches", "--json").json == []


def test_a_batch_without_jobs_to_retry_stays_closed_and_its_errors_do_not_say_otherwise(
    cli, own_server, start_worker, tmp_path
):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    start_worker(own_server.url)
    write_cases(tmp_path / "cases.jsonl", true_false_cases(12))
    batch = cli("submit", "cases.jsonl").out.strip()
    cli("watch", batch)

    none = cli("retry", batch)
    assert (none.status, none.out) == (0, "0 jobs put back to be graded again\n")
    reason = "no job was cancelled, expired or had a temporary error, so the batch stays as it is"
    assert none.err == f"{reason}: completed\n"
    hint = "`retry` opens it again if it has jobs that were cancelled, expired or had a temporary error"
    assert hint in cli("pause", batch).err


def test_a_resumed_batch_takes_no_other_graders(cli, own_server, cases):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    batch = cli("submit", cases.name, "-g", "string-match").out.strip()
    again = ("submit", cases.name, "--resume", batch)
    refused = cli(*again, "-g", "true-false")
    assert (refused.status, refused.out) == (1, "")
    assert "is graded by string-match, not by true-false\n  a batch keeps its" in refused.err
    assert cli(*again, "-g", "string-match").out == cli(*again).out == f"{batch}\n"
    assert cli(*again, "--strict").out == f"{batch}\n", "lines are checked with the batch's graders"


def test_where_errors_are_explained_is_printed_with_their_numbers(
    cli, own_server, start_worker, tmp_path
):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    start_worker(own_server.url, 1)
    killer = hazard_case("k", "kills-itself")
    write_cases(tmp_path / "cases.jsonl", [killer, *true_false_cases(2)])
    batch = cli("submit", "cases.jsonl").out.strip()
    hint = f"each error, with a hint: weighbridge results {batch} --errored\n"
    assert cli("watch", batch).out.endswith(hint)
    assert cli("status", batch).out.endswith(hint)
    *_, last = cli("dead-letters").out.splitlines()
    of_its_cause = f"results {batch} --errored --cause WORKER_KILLED"
    assert last == f"the jobs of a row, with how each ended: weighbridge {of_its_cause}"
    [row] = cli(*of_its_cause.split()).out.splitlines()
    assert orjson.loads(row)["custom_id"] == "k"


def test_a_paused_batch_is_shown_with_the_command_that_continues_it(
    cli, own_server, start_worker, tmp_path
):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    write_cases(tmp_path / "cases.jsonl", true_false_cases(12))
    batch = cli("submit", "cases.jsonl").out.strip()
    note = f"paused; `weighbridge unpause {batch}` continues it"
    assert "paused" not in cli("status", batch).out
    cli("pause", batch)
    assert f"\n  {note}\n" in cli("status", batch).out
    listed = cli("batches")
    assert ("in_progress, paused" in listed.out, listed.err) == (True, f"{note}\n")
    cli("cancel", batch)
    assert "paused" not in cli("status", batch).out + cli("batches").out
    assert cli("retry", batch).err == f"{note}\n"

    start_worker(own_server.url)
    watch = cli.fork("watch", batch)
    assert watch.stderr.readline().decode() == f"{note}\n"
    cli("unpause", batch)
    watch.communicate(timeout=60)
    assert watch.returncode == 100


@pytest.mark.parametrize("by_setting", [True, False], ids=["by a setting", "by an option"])
def test_a_worker_is_started_listed_and_drained(cli, own_server, by_setting):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    cli.environment["WEIGHBRIDGE_LOG_FORMAT"] = "json" if by_setting else "text"
    assert cli("workers", "--json").json == []
    format_option = () if by_setting else ("--json",)
    worker = cli.start("worker", "--concurrency", "1", *format_option)
    with RedisClient(own_server.url) as client:
        eventually(client.workers, 30, "the worker")
    [info] = cli("workers", "--json").json
    assert (info["pid"], info["concurrency"]) == (worker.pid, 1)
    registry = default_registry()
    assert info["graders"] == {name: registry.get(name).version for name in BUILT_IN}
    [head, row] = cli("workers").out.splitlines()
    assert (head.split()[:2], row.split()[:2]) == (
        ["worker", "queue"],
        [info["name"], info["queue"]],
    )

    refused = cli("drain", "nobody")
    assert (refused.status, refused.err.partition(":")[0]) == (1, "NO_SUCH_WORKER")
    assert cli("drain", "all").out == f"{info['name']} is draining\n"
    out, log = worker.communicate(timeout=40)
    assert (worker.returncode, out) == (0, b"")
    messages = [orjson.loads(line)["message"] for line in log.splitlines()]
    assert any("is ready: graders" in message for message in messages)
    cli.await_silence()


# Proving results.


@pytest.fixture
def results(tmp_path, cases):
    """The results of `cases`, as the library gives them."""
    path = tmp_path / "results.jsonl"
    with cases.open("rb") as lines:
        path.write_bytes(b"".join(grade_lines(lines)))
    return path


@pytest.mark.parametrize("form", ["csv", "md", "html", "junit", "otel", "parquet"])
def test_a_line_of_a_file_that_is_no_result_is_named_in_any_form(cli, results, form):
    rows = results.read_bytes().splitlines(True)
    rows[2] = re.sub(rb'"verdict":"\w+"', b'"verdict":"odd"', rows[2])
    results.write_bytes(b"".join(rows))
    ended = cli("results", results.name, "-o", f"{form}=out")
    assert ended.status == 1
    why = "this is not a result line: no result has the verdict 'odd'"
    assert f"INPUT_UNREADABLE: line 3 of 'results.jsonl': {why}" in ended.err
    assert "Traceback" not in ended.err


def test_a_gate_on_results_prints_the_summary_that_their_run_printed(cli, cases):
    ran = cli("run", cases.name, "-o", "r.jsonl")
    read = cli("results", "r.jsonl", "--min-pass-rate", "0")
    table, _, end = ran.out.rpartition("\n\n")
    assert "Expected" in table
    assert "12 jobs in " in end
    assert read.out.rstrip("\n") == table


@pytest.fixture
def without_pyarrow(cli, tmp_path):
    """The command line where pyarrow is not installed."""
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "pyarrow.py").write_text("raise ImportError\n")
    cli.environment["PYTHONPATH"] = str(tmp_path / "path")
    return cli


LEFT_OUT = (
    "OUTPUT_UNWRITABLE: 'r.parquet' is left out: writing Parquet needs pyarrow, which is not installed\n"
    "  pip install 'weighbridge[parquet]'\n"
)


@pytest.mark.parametrize(
    "command",
    [
        ("run", "cases.jsonl", "--min-pass-rate", "0"),
        ("results", "results.jsonl"),
        ("results", "results.jsonl", "--min-pass-rate", "0"),
        ("compare", "results.jsonl", "results.jsonl"),
    ],
)
def test_an_output_whose_package_is_missing_keeps_no_other_from_being_written(
    without_pyarrow, results, tmp_path, command
):
    cli = without_pyarrow
    ended = cli(*command, "-o", "r.parquet", "-o", "r.csv")
    assert ended.err.startswith(LEFT_OUT)
    assert ended.err.endswith("exit status 1: 'r.parquet' could not be written\n")
    assert ended.status == 1
    assert (tmp_path / "r.csv").read_text().startswith('"')
    assert not (tmp_path / "r.parquet").exists()
    if command[-1] == "0":
        told = cli(*command, "--json", "-o", "r.parquet", "-o", "r.csv")
        assert (told.json["exit_status"], told.json["outputs"]) == (1, ["r.csv"])
    alone = cli(*command, "-o", "r.parquet")
    assert (alone.status, alone.out) == (1, "")
    assert alone.err == LEFT_OUT.replace("'r.parquet' is left out: ", "")


def test_a_dry_run_ends_as_the_run_would_if_an_output_is_left_out(without_pyarrow, cases):
    for more in ((), ("--json",)):
        dry = ("run", cases.name, "--dry-run", "-o", "r.csv", *more)
        assert without_pyarrow(*dry).status == 0
        assert without_pyarrow(*dry, "-o", "r.parquet").status == 1


@pytest.mark.parametrize(
    "command",
    [
        ("run", "cases.jsonl"),
        ("results", "results.jsonl"),
        ("compare", "results.jsonl", "results.jsonl"),
    ],
)
def test_an_output_that_is_left_out_hides_no_gate_that_is_not_met(
    without_pyarrow, results, command
):
    outputs = ("-o", "r.parquet", "-o", "r.csv")
    ended = without_pyarrow(*command, "--min-pass-rate", "0.99", *outputs)
    why = "'r.parquet' could not be written; 1 gate was not met"
    assert (ended.status, ended.err.splitlines()[-1]) == (1, f"exit status 1: {why}")
    assert (ended.out + ended.err).count("gate --min-pass-rate 0.99") == 1


def test_results_as_json_say_which_output_is_left_out(without_pyarrow, results):
    outputs = ("-o", "r.parquet", "-o", "r.csv", "--json")
    told = without_pyarrow("results", results.name, *outputs).json
    assert told["outputs"] == ["r.csv"]
    assert told["exit_status"] == 1
    assert told["exit_reason"] == "'r.parquet' could not be written"
    assert "exit_status" not in without_pyarrow("results", results.name, *outputs[2:]).json


def test_untouched_results_are_proven(cli, results, cases):
    ended = cli("verify", results.name, cases.name, "--json")
    assert ended.status == 0
    assert ended.json["proven"] == 12


@pytest.mark.parametrize(
    ("tamper", "found"),
    [
        (lambda rows: [rows[0].replace(b'"fail"', b'"pass"'), *rows[1:]], "changed"),
        (lambda rows: [re.sub(rb'"receipt":"..', b'"receipt":"zz', rows[0]), *rows[1:]], "changed"),
        (lambda rows: rows[1:], "missing"),
        (lambda rows: [*rows, rows[0]], "surplus"),
        (lambda rows: [*rows, rows[0].replace(b'"line":1,', b'"line":99,')], "surplus"),
        (lambda rows: [*rows, b"no result\n"], "surplus"),
        (lambda rows: [*rows, b'{"line": 1, "error": "x"}\n'], "surplus"),
    ],
)
def test_tampered_results_are_found(cli, results, cases, tamper, found):
    results.write_bytes(b"".join(tamper(results.read_bytes().splitlines(True))))
    ended = cli("verify", results.name, cases.name, "--json")
    assert ended.status == 1
    counts = {name: ended.json[name] for name in ("changed", "missing", "surplus")}
    assert counts == {"changed": 0, "missing": 0, "surplus": 0} | {found: 1}


def test_what_cannot_be_proven_fails_unless_it_is_allowed(cli, results, cases):
    row, *rest = results.read_bytes().splitlines(True)
    cut_short = {
        "status": "errored",
        "result": None,
        "error": {"code": "TIMEOUT", "message": "it did not end", "hint": ""},
        "receipt": None,
    }
    row = orjson.dumps(orjson.loads(row) | cut_short) + b"\n"
    results.write_bytes(b"".join([row, *rest]))
    refused = cli("verify", results.name, cases.name)
    assert refused.status == 1
    assert "11 proven, 0 changed, 0 missing, 0 surplus, 1 unproven" in refused.out
    assert "--allow-unproven accepts them" in refused.err
    assert cli("verify", results.name, cases.name, "--json").json["ok"] is False
    accepted = cli("verify", results.name, cases.name, "--allow-unproven")
    assert (accepted.status, accepted.err) == (0, "")


@pytest.mark.parametrize("grader", ["kills-itself", "exits-hard", "loops", "hangs-natively"])
def test_what_hangs_or_kills_its_process_is_neither_graded_again_nor_ends_the_command(
    cli, tmp_path, grader
):
    cli.environment |= {
        "PYTHONPATH": str(PLUGINS),
        "WEIGHBRIDGE_JOB_DEADLINE_SECONDS": "2",
        "WEIGHBRIDGE_HEARTBEAT_SECONDS": "0.5",
    }
    cases = [hazard_case(name, grader, "go" if name == "b" else "stay") for name in "abcd"]
    write_cases(tmp_path / "cases.jsonl", cases)
    cli("run", "cases.jsonl", "-g", grader, "-o", "results.jsonl", "--sort")
    ended = cli("verify", "results.jsonl", "cases.jsonl", "-g", grader)
    assert ended.status == 1
    assert ended.out == "3 proven, 0 changed, 0 missing, 0 surplus, 1 unproven\n"
    # A row that hides what happened is not let through, and the others are proven.
    rows = (tmp_path / "results.jsonl").read_bytes().splitlines(True)
    rows[1] = rows[0].replace(b'"a","line":1', b'"b","line":2')
    (tmp_path / "results.jsonl").write_bytes(b"".join(rows))
    ended = cli("verify", "results.jsonl", "cases.jsonl", "-g", grader, "--allow-unproven")
    assert ended.status == 1
    assert ended.out == "3 proven, 1 changed, 0 missing, 0 surplus, 0 unproven\n"
    assert re.search(
        r"^line 2.*: grading again ended with (TIMEOUT|WORKER_KILLED): ", ended.err, re.MULTILINE
    )


def test_a_repeated_line_has_no_result_and_misses_none(shared, cases):
    text = cases.read_bytes()
    cases.write_bytes(text + b"\n" + text.splitlines(True)[3])
    batch = submitted(shared, cases.name)
    assert "1 repeated line was left out" in shared("status", batch).out
    shared("results", batch, "-o", "out.jsonl")
    verified = shared("verify", "out.jsonl", cases.name, "--json").json
    assert (verified["ok"], verified["proven"], verified["missing"]) == (True, 12, 0)


# Graders.


def test_what_a_plug_ins_grader_raises_while_it_is_built_is_told_without_a_traceback(cli, tmp_path):
    (tmp_path / "acme.py").write_text(
        """
import re
from weighbridge.graders import GraderConfig, TrueFalseGrader

class Pattern(TrueFalseGrader):
    id = "acme-pattern"

    class Config(GraderConfig):
        pattern: str = ""

    def prepare(self):
        re.compile(self.settings.pattern)
"""
    )
    installed = tmp_path / "acme-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[weighbridge.graders]\np = acme:Pattern\n")
    (tmp_path / "cases.jsonl").write_text("")
    cli.environment["PYTHONPATH"] = str(tmp_path)
    ended = cli("run", "cases.jsonl", "-g", "acme-pattern", "-c", 'pattern="(x"')
    assert ended.status == 1
    assert ended.err.startswith(
        "INVALID_CONFIG: grader 'acme-pattern' cannot be built: error: missing )"
    )


def test_graders_are_listed_and_shown(cli):
    listed = cli("graders")
    assert "string-match" in listed.out
    assert [g["id"] for g in cli("graders", "--json").json["graders"]] == BUILT_IN
    shown = cli("graders", "show", "true-false")
    assert "\n  case_sensitive  boolean; default false\n      whether `YES` differs" in shown.out
    assert "\n  agent_response  any JSON; required\n      What the agent answered.\n" in shown.out
    assert '"verdict": "pass"' in shown.out
    assert shown.out.endswith("\nthe JSON Schemas: weighbridge graders show true-false --json\n")
    facts = cli("graders", "show", "string-match", "--json").json
    assert facts["config_schema"]["properties"]["case_sensitive"]
    assert facts["example"]["result"]["verdict"] in {"pass", "fail"}
    unknown = cli("graders", "show", "true-flase")
    assert unknown.status == 1
    assert "did you mean 'true-false'" in unknown.err


# What goes wrong.


@pytest.mark.parametrize(
    "command",
    [
        ["status", UNKNOWN_BATCH],
        ["watch", "nonsense"],
        ["results", UNKNOWN_BATCH],
        ["results", UNKNOWN_BATCH, "--id", "c1"],
        ["cancel", UNKNOWN_BATCH],
        ["retry", "\x1b[31mred"],
        ["delete", UNKNOWN_BATCH],
        ["submit", "none.jsonl"],
        ["submit", "cases.jsonl", "-g", "true-fasle"],
        ["submit", "cases.jsonl", "--resume", UNKNOWN_BATCH],
        ["submit", "bad.jsonl", "--strict"],
        ["verify", "none.jsonl", "cases.jsonl"],
        ["verify", "cases.jsonl", "none.jsonl"],
    ],
)
def test_an_error_has_a_code_a_message_and_a_hint_on_standard_error(shared, cases, command):
    (cases.parent / "bad.jsonl").write_text("[]\n")
    ended = shared(*command)
    assert (ended.status, ended.out) == (1, "")
    assert re.match(r"[A-Z_]+: \S", ended.err), ended.err
    assert "Traceback" not in ended.err
    assert "\x1b" not in ended.err
    assert len(ended.err.splitlines()) >= 2 or "did you mean" in ended.err


@pytest.mark.parametrize("command", ["status", "submit", "batches"])
def test_a_server_that_refuses_is_an_error_within_seconds(cli, cases, command):
    arguments = {"status": [UNKNOWN_BATCH], "submit": [cases.name]}.get(command, [])
    url = f"redis://user:hunter2@127.0.0.1:{free_port()}/0"
    ended = cli(command, *arguments, seconds=15, redis_url=url)
    assert ended.status == 1
    assert ended.err.startswith("REDIS_UNAVAILABLE: redis://user:***@127.0.0.1")
    assert "hunter2" not in ended.err


def test_no_server_at_all_is_an_error_that_names_the_variable(cli):
    ended = cli("batches")
    assert ended.status == 1
    assert "WEIGHBRIDGE_REDIS_URL" in ended.err


def test_what_strangers_named_reaches_the_terminal_as_text(shared, tmp_path):
    name = "\x1b[31m\u202e[bold]x :bomb:.jsonl"
    lines = [
        {
            "custom_id": f"c{n}",
            "inputs": {"agent_response": response, "expected_output": "true"},
            "graders": [{"grader": "true-false", "label": "\u202e[red]label[/red] :bomb:"}],
        }
        for n, response in enumerate(["yes", "\x1b]0;owned\x07"])
    ]
    write_cases(tmp_path / name, lines)
    batch = submitted(shared, name)
    everything = ""
    for command in (["status", batch], ["batches", "--most", "100"], ["watch", batch]):
        ended = shared(*command)
        everything += ended.out + ended.err
    assert "\\u202e[red]label[/red] :bomb:" in everything
    assert "\\x1b[31m\\u202e[bold]x :bomb:.jsonl" in everything
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", everything)


def test_one_job_alone_is_graded_again(cli, own_server, tmp_path):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    write_cases(tmp_path / "cases.jsonl", true_false_cases(1))
    batch = cli("submit", "cases.jsonl").out.strip()
    cli("cancel", batch)
    assert cli("retry", batch).out == "1 job put back to be graded again\n"


@pytest.mark.parametrize(
    "command",
    [
        ["status", "\udcff"],
        ["results", UNKNOWN_BATCH, "--id", "c\udcff"],
        ["results", UNKNOWN_BATCH, "--cursor", "0/\udcff/1"],
        ["submit", "cases.jsonl", "-g", "\udcff=true-false"],
        ["submit", "cases.jsonl", "-g", "true-false", "-c", "x=\udcff"],
        ["submit", "cases.jsonl", "--resume", "\udcff"],
        ["batches", "--redis-url", "redis://\udcff/0"],
    ],
)
def test_an_argument_that_is_no_utf_8_is_refused_as_a_wrong_command_line(shared, cases, command):
    ended = shared(*command)
    assert (ended.status, ended.out) == (2, "")
    assert "it is not UTF-8" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("name", ["wb_ffffffffffffffff_1_x", "wb_6b000000_1_\x1b[31mred"])
def test_what_only_looks_like_a_batch_id_is_not_found(shared, name):
    ended = shared("status", name)
    assert (ended.status, ended.err.partition(":")[0]) == (1, "BATCH_NOT_FOUND")
    assert "\x1b" not in ended.err


def test_batches_that_strangers_forged_neither_move_the_terminal_nor_hide_the_others(
    cli, own_server, tmp_path
):
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = own_server.url
    write_cases(tmp_path / "cases.jsonl", true_false_cases(3))
    good, strange = (cli("submit", "cases.jsonl").out.strip() for _ in range(2))
    forged = "wb_\x1b[31mred"
    with RedisClient(own_server.url) as client:
        redis = client.store.redis
        redis.copy(f"wb:{{{good}}}:meta", f"wb:{{{forged}}}:meta")
        redis.zadd("wb:{fleet}:batches", {forged: 1})
        redis.hset(f"wb:{{{strange}}}:meta", "status", "pondering")
    listed = cli("batches")
    assert listed.status == 0
    assert good in listed.out
    assert "wb_\\x1b[31mred" in listed.out
    shown = cli("status", forged)
    assert "BATCH_NOT_FOUND: 'wb_\\x1b[31mred' is not a batch id" in shown.err
    assert "\x1b" not in listed.out + listed.err + shown.out + shown.err
    refused = cli("status", strange)
    assert (refused.status, refused.err.partition(":")[0]) == (1, "BATCH_ERROR")
    assert "'pondering'" in refused.err


@pytest.mark.parametrize("command", [["batches"], ["run", "cases.jsonl"]])
def test_a_password_that_cuts_its_address_short_is_not_shown_in_part(cli, cases, command):
    ended = cli(*command, redis_url="redis://:s3cr/t@localhost:6/0")
    assert ended.status == 1
    assert "INVALID_URL: not a Redis URL: 'redis://***@localhost:6/0'" in ended.err
    assert "s3cr" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("run", "nofile.csv"), "INPUT_UNREADABLE"),
        (("run", "cases.jsonl", "--grader", "nosuch"), "UNKNOWN_GRADER"),
        (("compare", "a.jsonl", "b.jsonl"), "INPUT_UNREADABLE"),
        (("verify", "a.jsonl", "cases.jsonl"), "INPUT_UNREADABLE"),
        (("status", "wb_1", "--redis-url", "redis://localhost:1/0"), "REDIS_UNAVAILABLE"),
    ],
)
def test_an_error_is_written_as_json_too_where_json_is_asked_for(
    cli, tmp_path, command, code
) -> None:
    write_cases(tmp_path / "cases.jsonl", true_false_cases(2))
    ended = cli(*command, "--json")
    assert ended.status == 1
    assert ended.json["error"].keys() == {"code", "message", "hint"}
    assert ended.json["error"]["code"] == code
    assert "\\n" not in ended.json["error"]["hint"]
    assert ended.err.startswith(f"{code}: ")
    assert cli(*command).out == ""


def test_results_that_cannot_be_read_to_the_end_are_one_json_value_with_the_error(
    cli, tmp_path
) -> None:
    write_cases(tmp_path / "cases.jsonl", true_false_cases(3))
    assert cli("run", "cases.jsonl", "-g", "true-false", "-o", "a.jsonl").status in {0, 100}
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b"{broken\n")
    ended = cli("results", "a.jsonl", "--json")
    assert ended.status == 1
    assert ended.json["error"]["code"]
    assert ended.err.startswith(ended.json["error"]["code"])


@pytest.mark.parametrize(
    "command",
    [
        ("results", "results.jsonl"),
        ("results", "results.jsonl", "--json"),
        ("run", "cases.jsonl", "-g", "true-false", "-o", "-"),
        ("compare", "results.jsonl", "results.jsonl", "--json"),
    ],
)
def test_a_closed_standard_output_is_an_error(cli, results, command) -> None:
    run = cli.start(*command, preexec_fn=lambda: os.close(1))
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1
    assert said.startswith(b"OUTPUT_UNWRITABLE: standard output is closed")
    assert b"Traceback" not in said


def test_an_error_without_room_for_its_json_is_on_standard_error(cli) -> None:
    with Path("/dev/full").open("wb") as full:
        run = cli.start("run", "nofile.csv", "--json", stdout=full)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 1
    assert said.startswith(b"INPUT_UNREADABLE: ")
    assert b"Traceback" not in said


def test_settings_are_printed_with_their_values_but_without_secrets(cli) -> None:
    url = "redis://:secret@host:6379"
    ended = cli("settings", queue="mine", api_key="wbk_secret", redis_url=url)
    assert ended.status == 0
    assert "WEIGHBRIDGE_QUEUE  default weighbridge; set to mine\n    The Celery queue" in ended.out
    assert "secret" not in ended.out
    listed = cli("settings", "--json").json["settings"]
    assert {each["variable"] for each in listed} == {
        f"WEIGHBRIDGE_{name.upper()}" for name in Settings.model_fields
    }
    assert all(len(each["description"]) > 20 for each in listed)


def test_every_error_code_is_explained(cli) -> None:
    listed = {each["code"]: each for each in cli("errors", "--json").json["errors"]}
    assert listed.keys() >= {*ErrorCode, "MAPPING_NEEDED"}
    assert all(each["what"].endswith(".") for each in listed.values())
    one = cli("errors", "no_answer")
    assert one.out.startswith("NO_ANSWER  The row records an error in place of an answer")
    wrong = cli("errors", "NO_ANSWR")
    assert (wrong.status, "did you mean 'NO_ANSWER'?" in wrong.err) == (2, True)
