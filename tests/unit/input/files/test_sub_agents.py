"""Sessions of Claude Code with files of sub-agents: one trace, in which each call counts once."""

from __future__ import annotations

import orjson
import pytest

from support.claude_sessions import (
    MAIN,
    SESSION,
    STATED,
    answer,
    call,
    line,
    lines_of,
    result,
    text,
    traces_in,
    write,
)
from weighbridge.errors import InputError
from weighbridge.settings import Settings
from weighbridge_producer.input.files import sub_agents
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.sub_agents import with_sub_agents
from weighbridge_producer.input.source import Source

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
    monkeypatch.setattr(sub_agents, "GROUP_LIMIT_BYTES", 100)
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
    read = sub_agents.part

    def vanishing(file, *size):
        held = read(file, *size)
        file.unlink()
        return held

    monkeypatch.setattr(sub_agents, "part", vanishing)
    assert with_sub_agents(files) == tuple(files)
