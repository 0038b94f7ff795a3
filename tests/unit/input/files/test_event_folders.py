"""Folders of events, a file each: one run is one trace, however its folder is named in the input."""

from __future__ import annotations

import json

import orjson
import pytest

from support.agent_run_forms import as_openhands, as_openhands_sdk
from weighbridge.settings import Settings
from weighbridge.traces import Step, Trace, Usage, read_trace
from weighbridge_producer.input.files.event_folders import with_event_folders
from weighbridge_producer.input.source import Source

RUN = Trace(
    id="run",
    format="native",
    steps=(
        Step(id="u", type="user", output="Go."),
        Step(id="m1", type="llm", output="I look.", usage=Usage(9, 2, 11, 0)),
        Step(id="c1", type="tool", parent_id="m1", name="bash", arguments={"q": "x"}, output="a"),
        Step(id="m2", type="llm", output="Done.", usage=Usage(12, 3, 15, 0)),
    ),
)
EVENTS = as_openhands_sdk(RUN)[:-1]  # without the statistics
STATS = as_openhands_sdk(RUN)[-1]["value"]


def traces_in(path):
    lines = list(Source(path, Settings()))
    assert [line.fault for line in lines] == [None] * len(lines)
    return [read_trace(orjson.loads(line.raw)["inputs"]["trace"]) for line in lines]


@pytest.fixture
def conversation(tmp_path):
    folder = tmp_path / "conversation" / "events"
    folder.mkdir(parents=True)
    for number, event in enumerate(EVENTS):
        # More events than digits, and a file over several lines.
        name = f"event-{number + 99_998:05}-0a1b2c3d-0000.json"
        (folder / name).write_text(json.dumps(event, indent=2 if number == 1 else None))
    state = {"id": "conv-1", "agent": {"llm": {"model": "gpt-4o"}}, "stats": STATS}
    (folder.parent / "base_state.json").write_text(json.dumps(state, indent=2))
    return folder.parent


@pytest.mark.parametrize("named", [".", "events", "events/*.json", "*/*.json"])
def test_events_in_files_of_their_own_are_one_trace_with_the_totals_of_its_state(
    conversation, named
):
    [trace] = traces_in(conversation / named)
    assert (trace.format, trace.id) == ("openhands", "conv-1")
    assert [(step.type, step.output) for step in trace.steps] == [
        (step.type, step.output) for step in RUN.steps
    ]
    assert (trace.usage, trace.steps[1].model) == (Usage(21, 5, cached_tokens=0), "gpt-4o")


def test_numbered_events_of_openhands_are_one_trace_in_the_order_of_their_numbers(tmp_path):
    folder = tmp_path / "session" / "events"
    folder.mkdir(parents=True)
    events = as_openhands(RUN)
    for event in events:
        (folder / f"{event['id'] + 8}.json").write_text(json.dumps(event))
    [trace] = traces_in(tmp_path)
    assert trace.steps == read_trace(events).steps


def test_numbered_files_that_are_no_events_stay_files_of_their_own(tmp_path):
    folder = tmp_path / "events"
    folder.mkdir()
    for number in (1, 2):
        steps = [{"type": "user", "output": str(number)}]
        (folder / f"{number}.json").write_text(json.dumps({"id": f"t{number}", "steps": steps}))
    assert [trace.id for trace in traces_in(folder)] == ["t1", "t2"]


def logged_call(number, messages):
    answer = {"role": "assistant", "content": f"Answer {number}."}
    return {
        "messages": messages,
        "kwargs": {},
        "response": {"choices": [{"message": answer}], "usage": {"total_tokens": 10 * number}},
        "cost": number / 4,
        "timestamp": 1757015025 + number,
        "latency_sec": 0.5,
    }


def test_logged_calls_of_the_model_are_a_trace_for_each_conversation(tmp_path):
    ask = {"role": "user", "content": "Go."}
    said = {"role": "assistant", "content": "Answer 1."}
    requests = [[ask], [ask, said, ask], [{"role": "user", "content": "Sum up."}]]
    for number, messages in enumerate(requests, 1):
        (tmp_path / f"org__m-{1757015025 + number}.5-0a1b.json").write_text(
            json.dumps(logged_call(number, messages))
        )
    (tmp_path / "other.json").write_text(json.dumps({"id": "t", "steps": []}))
    traces = traces_in(tmp_path)
    told = [[step.usage for step in trace.steps_of("llm")] for trace in traces if trace.steps]
    assert told == [
        [Usage(total_tokens=10), Usage(total_tokens=20)],
        [Usage(total_tokens=30)],
    ]


def test_chats_in_files_with_such_names_stay_files_of_their_own(tmp_path):
    names = [f"chat-175701502{number}.5.json" for number in (1, 2)]
    for name in names:
        chat = {"messages": [{"role": "user", "content": 'Which "response" has "kwargs"?'}]}
        (tmp_path / name).write_text(json.dumps(chat))
    assert [file.name for file in with_event_folders(sorted(tmp_path.iterdir()))] == names


def test_a_logged_call_that_is_cut_off_is_read_apart_from_the_others(tmp_path):
    for number in (1, 2):
        call = logged_call(number, [{"role": "user", "content": str(number)}])
        (tmp_path / f"m-175701502{number}.5.json").write_text(json.dumps(call))
    torn = tmp_path / "m-1757015029.5.json"
    torn.write_text('{"messages": [{"role": "user"')
    files = with_event_folders(sorted(tmp_path.iterdir()))
    assert [file.name for file in files] == [tmp_path.name, torn.name]


def test_the_size_of_a_folder_of_events_is_that_of_what_is_read(conversation):
    source = Source(conversation, Settings())
    [file] = source.files
    before = source.fingerprint()
    with file.open() as stream:
        assert len(stream.read()) == source.size
    (conversation / "base_state.json").write_text("{}")
    assert Source(conversation, Settings()).fingerprint() != before


@pytest.mark.parametrize("named", [".", "session_s", "session_s/agents/agent_a/messages"])
def test_messages_of_a_session_of_strands_are_one_trace_in_the_order_of_their_numbers(
    tmp_path, named
):
    folder = tmp_path / "session_s" / "agents" / "agent_a" / "messages"
    folder.mkdir(parents=True)
    for number in range(12):
        role = "assistant" if number % 2 else "user"
        message = {"role": role, "content": [{"text": f"{number}"}]}
        record = {"message": message, "message_id": number, "created_at": "2026-11-30T07:00:00Z"}
        (folder / f"message_{number}.json").write_text(json.dumps(record, indent=2))
    (folder.parent / "agent.json").write_text('{"agent_id": "a"}')
    (folder.parents[2] / "session.json").write_text('{"session_id": "s"}')
    [trace] = traces_in(tmp_path / named)
    assert trace.format == "strands"
    assert [step.output for step in trace.steps] == [f"{number}" for number in range(12)]


def test_files_named_like_messages_without_their_fields_stay_files_of_their_own(tmp_path):
    for number in range(2):
        chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": f"{number}"}]
        (tmp_path / f"message_{number}.json").write_text(json.dumps(chat))
    assert len(traces_in(tmp_path)) == 2
