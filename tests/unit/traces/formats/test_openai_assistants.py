"""Threads of OpenAI's Assistants API: each run step is an answer, whichever way its objects were fetched."""

from __future__ import annotations

from support.trace_examples.model_apis import OPENAI_ASSISTANTS
from weighbridge.traces import Step, ToolDefinition, Usage, read_trace

SECOND = 10**9
START = 1_735_732_800 * SECOND
STEPS = (
    Step(id="thread.message_0", type="user", output="Find x.", started_at=START),
    Step(
        id="thread.run.step_2",
        type="llm",
        model="gpt-4o",
        usage=Usage(8, 2, 10),
        started_at=START + 2 * SECOND,
        ended_at=START + 3 * SECOND,
    ),
    Step(
        id="call_1",
        type="tool",
        parent_id="thread.run.step_2",
        name="search",
        arguments={},
        output="x",
        ended_at=START + 3 * SECOND,
    ),
    Step(
        id="call_2",
        type="tool",
        parent_id="thread.run.step_2",
        name="code_interpreter",
        arguments={"input": "1"},
        output=[{"type": "logs", "logs": "1"}],
        ended_at=START + 3 * SECOND,
    ),
    Step(
        id="thread.run.step_4",
        type="llm",
        output="Found.",
        model="gpt-4o",
        usage=Usage(12, 3, 15),
        started_at=START + 4 * SECOND,
    ),
)
MESSAGES = OPENAI_ASSISTANTS["messages"]["data"]


def test_steps_are_model_calls_with_their_tool_calls():
    trace = read_trace(OPENAI_ASSISTANTS)
    assert (trace.id, trace.format) == ("thread_1", "openai-assistants")
    assert trace.steps == STEPS
    assert trace.usage == Usage(20, 5, 25)
    assert trace.tools == (ToolDefinition("search"),)
    assert set(trace.missing) == set()


def test_objects_in_one_list_or_as_streamed_events_read_the_same():
    listed = [*MESSAGES, *OPENAI_ASSISTANTS["runs"], *OPENAI_ASSISTANTS["steps"]]
    assert read_trace(listed).steps == STEPS
    events = []
    for each in listed:
        begun = {**each, "status": "in_progress", "completed_at": None}
        events.append({"event": f"{each['object']}.created", "data": begun})
        events.append({"event": f"{each['object']}.completed", "data": each})
    events.append({"event": "thread.message.delta", "data": {"object": "thread.message.delta"}})
    trace = read_trace(events)
    assert trace.steps == STEPS
    assert trace.not_carried == ("pieces of streamed objects (1)",)


def test_without_the_steps_the_calls_are_missing_unless_no_tool_was_offered():
    run = OPENAI_ASSISTANTS["runs"][0]
    trace = read_trace({"messages": MESSAGES, "runs": [run]})
    assert [step.output for step in trace.steps] == ["Find x.", "Found."]
    assert "tool_calls" in trace.missing
    assert "tool_calls" in read_trace(OPENAI_ASSISTANTS["messages"]).missing
    toolless = {**run, "tools": []}
    assert "tool_calls" not in read_trace({"messages": MESSAGES, "runs": [toolless]}).missing


def test_a_call_that_a_run_waits_for_is_read_from_the_run():
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    action = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": calls}}
    run = {**OPENAI_ASSISTANTS["runs"][0], "status": "requires_action", "required_action": action}
    [call] = read_trace({"runs": [run]}).steps_of("tool")
    assert (call.id, call.name) == ("c1", "f")
