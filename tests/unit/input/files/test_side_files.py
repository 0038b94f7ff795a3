"""Files that agents and SQLite keep beside runs: they are not read, and are named."""

from __future__ import annotations

import orjson
import pytest

from support.claude_sessions import MAIN, SESSION, lines_of, traces_in, write
from support.trace_examples.personal_agents import OPENCLAW
from weighbridge.errors import InputError
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.read_as import ReadAs


def test_what_is_kept_beside_sessions_is_left_out_and_named(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    write(tmp_path / SESSION / "subagents" / "agent-a1.jsonl", lines_of("a1"))
    beside = ["sessions-index.json", f"{SESSION}/subagents/agent-a1.meta.json", f"{SESSION}/tool-results/t1.json"]  # fmt: skip
    for name in beside:
        write(tmp_path / name, [{"any": "thing"}])
    assert len(traces_in(tmp_path)) == 1
    assert sorted(InputFiles(Paths((tmp_path,))).skipped) == sorted(beside)


def test_files_of_these_names_without_a_session_are_read(tmp_path):
    for name in ("sessions-index.json", "agent-a1.meta.json", "x/tool-results/t1.json"):
        write(tmp_path / name, [{"messages": [{"role": "user", "content": "Go."}]}])
    assert len(traces_in(tmp_path)) == 3


def test_copies_of_a_session_of_openclaw_are_left_out_beside_it(tmp_path):
    copy = "s.checkpoint.0b5c8a10-1111-2222-3333-444455556666.jsonl"
    write(tmp_path / copy, OPENCLAW)
    assert len(traces_in(tmp_path)) == 1
    write(tmp_path / "s.jsonl", OPENCLAW)
    assert len(traces_in(tmp_path)) == 1
    assert InputFiles(Paths((tmp_path,))).skipped == [copy]
    write(tmp_path / "s.checkpoint.old.jsonl", OPENCLAW)
    assert len(traces_in(tmp_path)) == 2


UUID = "0b5c8a10-1111-2222-3333-444455556666"
SNAPSHOT = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
SYSTEM = {"type": "system", "subtype": "info", "parentUuid": None, "isSidechain": False, "uuid": "u", "sessionId": "S"}  # fmt: skip
PROMPT = {"display": "x", "pastedContents": {}, "timestamp": 1, "project": "/w"}

CODEX_PROMPT = {"session_id": "s", "ts": 1, "text": "x"}
GEMINI_PROMPT = {"sessionId": "s", "messageId": 0, "type": "user", "message": "x", "timestamp": "2025-01-01T12:00:00.000Z"}  # fmt: skip


def taken(folder):
    found = InputFiles(Paths([folder]))
    return {found.name_of(file) for file in found.files}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("a.jsonl", [{"type": "summary", "summary": "x", "leafUuid": "u"}] * 2),
        ("a.jsonl", [SNAPSHOT]),
        ("a.jsonl", [SNAPSHOT, {"type": "summary", "summary": '"message": 1', "leafUuid": "u"}]),
        ("a.jsonl", [{"operation": "enqueue", "type": "queue-operation", "sessionId": "S"}]),
        ("a.jsonl", [{"type": "mode", "mode": "normal", "sessionId": "S"}, SYSTEM]),
        ("history.jsonl", [PROMPT]),
        ("history.jsonl", [CODEX_PROMPT] * 2),
        ("logs.json", [[GEMINI_PROMPT] * 2]),
        ("sessions-index.json", [{"version": 1, "entries": []}]),
        ("x/subagents/agent-a1.meta.json", [{}]),
        ("agent-a1.meta.json", [{"agentType": "Explore"}]),
        (f"{UUID}/tool-results/toolu_1.json", [[]]),
    ],
)
def test_what_has_no_run_is_left_out_without_its_session_too(tmp_path, name, lines):
    (tmp_path / "p").mkdir()
    (tmp_path / "p/s.jsonl").write_bytes(b"\n".join(map(orjson.dumps, MAIN)))
    file = tmp_path / "other" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert taken(tmp_path) == {"p/s.jsonl"}
    with pytest.raises(InputError, match="has no run to read"):
        taken(tmp_path / "other")
    assert [each.name for each in InputFiles(Paths([file])).files] == [file.name]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("a.jsonl", [SNAPSHOT, *MAIN]),
        ("a.jsonl", [{"type": "summary", "custom_id": "1", "inputs": {}}]),
        ("a.jsonl", [{"type": "other", "summary": "x"}]),
        ("a.jsonl", [{"type": "mode", "question": "2+2", "answer": "4"}]),
        ("a.jsonl", [{"type": "summary", "summary": "x", "leafUuid": "u", "messages": []}]),
        ("a.jsonl", [SNAPSHOT, {"type": "qa", "messages": []}]),
        ("a.jsonl", [SNAPSHOT, [1]]),
        ("a.jsonl", [{"type": [], "summary": "x", "leafUuid": "u"}, {"type": "summary"}]),
        ("history.jsonl", [PROMPT, {"display": "x", "steps": []}]),
        ("history.jsonl", [{"messages": [{"role": "user", "content": "x"}]}]),
        ("history.jsonl", [CODEX_PROMPT, CODEX_PROMPT | {"answer": "y"}]),
        ("logs.json", [[GEMINI_PROMPT, {"messages": []}]]),
        ("logs.json", [[]]),
        ("logs.json", [GEMINI_PROMPT]),
        ("sessions-index.json", [{"steps": []}]),
        ("sessions-index.json", [{"custom_id": "1", "entries": []}]),
        ("agent-a1.meta.json", [{"steps": []}]),
        ("a/tool-results/t.json", [{"steps": []}]),
    ],
)
def test_other_files_with_such_names_or_lines_are_read(tmp_path, name, lines):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert taken(tmp_path) == {name}


@pytest.mark.parametrize("read_as", [ReadAs.ROWS, ReadAs.MAPPED_RUNS])
def test_no_file_that_is_mapped_is_left_out(tmp_path, read_as):
    write(tmp_path / "a.jsonl", [SNAPSHOT])
    write(tmp_path / "history.jsonl", [PROMPT])
    for named in (tmp_path, tmp_path / "*.jsonl"):
        found = InputFiles(Paths([named]), read_as)
        assert ([file.name for file in found.files], found.skipped) == (["a.jsonl", "history.jsonl"], [])  # fmt: skip


def test_files_that_a_shell_names_are_grouped_like_those_of_a_pattern(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    write(tmp_path / "agent-a1.jsonl", lines_of("a1"))
    write(tmp_path / "snapshot.jsonl", [SNAPSHOT])
    write(tmp_path / "sessions-index.json", [{"version": 1, "entries": []}])
    named = Paths(sorted(tmp_path.iterdir()))
    found = InputFiles(named)
    assert [str(file) for file in found.files] == [str(tmp_path / f"{SESSION}.jsonl")]
    assert found.skipped == [
        str(tmp_path / name) for name in ("sessions-index.json", "snapshot.jsonl")
    ]
    assert InputFiles(named, ReadAs.MAPPED_RUNS).files == tuple(named)
    with pytest.raises(InputError, match="none of the files has a run to read"):
        InputFiles(Paths([tmp_path / "snapshot.jsonl", tmp_path / "sessions-index.json"]))


@pytest.mark.parametrize("named", ["*", "a.db b.db a.db-wal a.db-shm"])
def test_what_sqlite_keeps_beside_databases_is_not_read_alone_and_not_called_skipped(
    tmp_path, named, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("a.db", "b.db"):
        (tmp_path / name).write_bytes(b"SQLite format 3\0")
    for name in ("a.db-wal", "a.db-shm"):
        (tmp_path / name).write_bytes(b"")
    found = InputFiles(Paths.of(named.split()))
    assert ([file.name for file in found.files], found.skipped) == (["a.db", "b.db"], [])
