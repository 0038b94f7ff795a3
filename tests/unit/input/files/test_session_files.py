"""Sessions of Claude Code with files of sub-agents: one trace, in which each call counts once."""

from __future__ import annotations

import json

import orjson
import pytest

from support.trace_examples import OPENCLAW
from weighbridge.errors import InputError
from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.files import session_files
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.session_files import with_sub_agents
from weighbridge_producer.input.source import Source

SESSION = "0b1c"


def line(kind, *blocks, message=None, **facts):
    held = {"role": kind, "content": list(blocks)} | (message or {})
    return {"type": kind, "sessionId": SESSION, "isSidechain": False, "message": held} | facts


def answer(name, *blocks, **facts):
    usage = {"input_tokens": 100, "output_tokens": 10}
    message = {"id": name, "model": "m", "stop_reason": "end_turn", "usage": usage}
    return line("assistant", *blocks, message=message, **facts)


def call(name, tool, **arguments):
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def result(name, **facts):
    return line("user", {"type": "tool_result", "tool_use_id": name, "content": "ok"}, **facts)


def text(said):
    return {"type": "text", "text": said}


STATED = {
    "agentId": "a1",
    "totalToolUseCount": 2,
    "totalTokens": 110,
    "usage": {"input_tokens": 100, "output_tokens": 10},
    "content": [text("Found.")],
}
MAIN = [
    line("user", text("Go.")),
    answer("A", call("t1", "Task", prompt="Look.")),
    result("t1", toolUseResult=STATED),
    answer("B", text("Done.")),
]


def lines_of(agent, **facts):
    about = {"isSidechain": True, "agentId": agent} | facts
    return [
        line("user", message={"content": "Look."}, **about),
        answer(f"{agent}-1", call(f"{agent}-c1", "Read"), call(f"{agent}-c2", "Read"), **about),
        result(f"{agent}-c1", **about),
        result(f"{agent}-c2", **about),
        answer(f"{agent}-2", text("Found."), **about),
    ]


def write(path, lines, end="\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)) + end)


def traces_in(path):
    lines = list(Source(path, Settings()))
    assert [line.fault for line in lines] == [None] * len(lines)
    return [read_trace(orjson.loads(line.raw)["inputs"]["trace"]) for line in lines]


PLACES = ["", f"{SESSION}/subagents", f"{SESSION}/subagents/more"]


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("named", [".", "**/*.jsonl"])
@pytest.mark.parametrize("place", PLACES)
def test_a_session_and_its_sub_agents_are_one_trace_in_which_each_call_counts_once(
    tmp_path, place, named, end
):
    write(tmp_path / f"{SESSION}.jsonl", MAIN, end)
    write(tmp_path / place / "agent-a1.jsonl", lines_of("a1"), end)
    [trace] = traces_in(tmp_path / named)
    assert trace.id == SESSION
    assert [step.id for step in trace.steps_of("llm")] == ["A", "a1-1", "a1-2", "B"]
    inner = [step for step in trace.steps_of("tool") if step.name == "Read"]
    assert len(inner) == STATED["totalToolUseCount"]
    assert sum(step.usage.total for step in trace.steps_of("llm")) == 440
    assert {step.parent_id for step in trace.steps if step.id.startswith("a1-") and step.type == "llm"} == {"t1"}  # fmt: skip
    assert trace.missing.keys() == {"timing", "tool_definitions"}


def test_the_steps_of_each_sub_agent_follow_the_call_that_started_it(tmp_path):
    asked = [call("t1", "Task", prompt="Look."), call("t2", "Task", prompt="See.")]
    session = [MAIN[0], answer("A", *asked), result("t2"), result("t1"), MAIN[3]]
    inner = [call("t3", "Task", prompt="Search.")]
    write(tmp_path / f"{SESSION}.jsonl", session)
    prompts = {"a1": "See.", "a2": "Search.", "a3": "Look."}
    for name, prompt in prompts.items():
        about = {"isSidechain": True, "agentId": name}
        blocks = inner if name == "a1" else [text("Found.")]
        lines = [line("user", text(prompt), **about), answer(f"{name}-1", *blocks, **about)]
        lines.append(answer(f"{name}-2", text("Done."), **about))
        write(tmp_path / f"agent-{name}.jsonl", lines)
    [trace] = traces_in(tmp_path)
    order = ["A", "a3-1", "a3-2", "a1-1", "a2-1", "a2-2", "a1-2", "B"]
    assert [step.id for step in trace.steps_of("llm")] == order
    parents = {step.id: step.parent_id for step in trace.steps_of("llm")}
    assert (parents["a3-1"], parents["a1-2"], parents["a2-1"]) == ("t1", "t2", "t3")


def test_a_session_that_is_named_alone_is_read_alone(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    write(tmp_path / PLACES[1] / "agent-a1.jsonl", lines_of("a1"))
    for named in (f"{SESSION}.jsonl", "*.jsonl"):
        [trace] = traces_in(tmp_path / named)
        assert "llm_calls" in trace.missing


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("agent-a1.jsonl", lines_of("a1", sessionId="other")),
        ("agent-a1.jsonl", lines_of("a1", sessionId=7)),
        ("agent-a1.jsonl", lines_of("a1", isSidechain=False)),
        ("agent-a1.jsonl", [[1], *lines_of("a1")]),
        ("agent-a1.jsonl", []),
        ("agent-.jsonl", lines_of("a1")),
        ("other.jsonl", lines_of("a1")),
    ],
)
def test_files_that_are_of_no_sub_agent_of_the_session_stay_files_of_their_own(
    tmp_path, name, lines
):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    write(tmp_path / name, lines)
    files = sorted(tmp_path.iterdir())
    assert with_sub_agents(files) == tuple(files)


def test_a_sub_agent_whose_first_line_is_no_json_stays_a_file_of_its_own(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    (tmp_path / "agent-a1.jsonl").write_bytes(b'{"sessionId": "0b1c", "isSidechain": true')
    files = sorted(tmp_path.iterdir())
    assert with_sub_agents(files) == tuple(files)


def test_a_file_with_the_name_of_a_session_and_other_content_stays_a_file_of_its_own(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", [{"id": "t", "steps": []}])
    write(tmp_path / "agent-a1.jsonl", lines_of("a1"))
    files = sorted(tmp_path.iterdir())
    assert with_sub_agents(files) == tuple(files)


def test_files_that_do_not_fit_in_one_document_are_read_one_by_one(tmp_path, monkeypatch):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    write(tmp_path / "agent-a1.jsonl", lines_of("a1"))
    monkeypatch.setattr(session_files, "GROUP_LIMIT_BYTES", 100)
    files = sorted(tmp_path.iterdir())
    assert with_sub_agents(files) == tuple(files)


def test_a_group_of_files_has_the_size_that_is_read_and_takes_no_other_file(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    agent = tmp_path / "agent-a1.jsonl"
    write(agent, lines_of("a1"))
    [group] = InputFiles(Paths.of([tmp_path])).files
    again = Source(Paths((group,)), Settings())
    with group.open() as stream:
        assert len(stream.read()) == again.size
    assert (again.would_take(str(agent)), again.would_take("other.jsonl")) == (True, False)
    before = again.fingerprint()
    write(agent, lines_of("a1")[:2])
    assert again.fingerprint() != before
    [line] = again
    assert orjson.loads(line.raw)["custom_id"] == SESSION


@pytest.mark.parametrize(
    "sessions",
    [{"a1": "agent-a1"}, {"a1": "agent-a2", "a2": "agent-a1"}, {"a1": "agent-a2", "a2": "agent-a3", "a3": "agent-a1"}],
)  # fmt: skip
def test_sub_agents_that_name_themselves_or_each_other_as_the_session_stay_files_of_their_own(
    tmp_path, sessions
):
    for name, session in sessions.items():
        own = line("user", text("Go."), sessionId=f"agent-{name}")
        write(tmp_path / f"agent-{name}.jsonl", [*lines_of(name, sessionId=session), own])
    files = sorted(tmp_path.iterdir())
    assert with_sub_agents(files) == tuple(files)


def test_a_sub_agent_whose_session_is_another_sub_agent_is_not_lost_with_it(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    own = line("user", text("Go."), sessionId="agent-a1")
    write(tmp_path / "agent-a1.jsonl", [*lines_of("a1"), own])
    write(tmp_path / "agent-a2.jsonl", lines_of("a2", sessionId="agent-a1"))
    group, other = with_sub_agents(sorted(tmp_path.iterdir(), reverse=True))[::-1]
    assert (len(group.files), other.name) == (2, "agent-a2.jsonl")


CASE = {"custom_id": SESSION, "inputs": {"trace": MAIN}}


@pytest.mark.parametrize("case", [CASE, CASE | {"sessionId": SESSION}, CASE | {"x": "y" * 300_000}])
def test_a_file_of_cases_with_the_name_of_a_session_stays_a_file_of_its_own(tmp_path, case):
    write(tmp_path / f"{SESSION}.jsonl", [case])
    write(tmp_path / "agent-a1.jsonl", lines_of("a1"))
    files = sorted(tmp_path.iterdir())
    assert with_sub_agents(files) == tuple(files)


def test_a_file_of_cases_with_the_name_and_fields_of_a_sub_agent_stays_a_file_of_its_own(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    write(tmp_path / "agent-a1.jsonl", [lines_of("a1")[0] | {"custom_id": "1"}])
    files = sorted(tmp_path.iterdir())
    assert with_sub_agents(files) == tuple(files)


def test_files_of_a_group_that_vanish_are_named_in_an_error(tmp_path):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    write(tmp_path / "agent-a1.jsonl", lines_of("a1"))
    found = InputFiles(Paths.of([tmp_path]))
    (tmp_path / "agent-a1.jsonl").unlink()
    with pytest.raises(InputError, match=r"agent-a1\.jsonl.* does not exist anymore"):
        found.size()


def test_a_session_that_vanishes_while_it_is_looked_for_is_no_group(tmp_path, monkeypatch):
    write(tmp_path / f"{SESSION}.jsonl", MAIN)
    write(tmp_path / "agent-a1.jsonl", lines_of("a1"))
    files = sorted(tmp_path.iterdir())
    read = session_files.part

    def vanishing(file, *size):
        held = read(file, *size)
        file.unlink()
        return held

    monkeypatch.setattr(session_files, "part", vanishing)
    assert with_sub_agents(files) == tuple(files)


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
