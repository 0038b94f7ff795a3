"""LangGraph's states and streams: each message counts once, however often it is repeated."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.agent_frameworks import LANGGRAPH, LANGGRAPH_MESSAGES
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.split import opens_session, single_traces

STEPS = (
    Step(id="m1", type="user", output="Find x."),
    Step(id="m2", type="llm", output="I look.", model="m", usage=Usage(9, 5, 14)),
    Step(id="c1", type="tool", parent_id="m2", name="search", arguments={"q": "x"}, output="none"),
    Step(id="m4", type="llm", output="Not there.", usage=Usage(12, 3, 15)),
)
VALUES = [{"messages": LANGGRAPH_MESSAGES[:count]} for count in (1, 2, 3, 4)]
UPDATES = [
    {node: {"messages": [message]}}
    for node, message in zip(
        ("__start__", "agent", "tools", "agent"), LANGGRAPH_MESSAGES, strict=True
    )
]
TASKS = [
    {"id": "1", "name": "agent", "input": VALUES[0], "triggers": []},
    {"id": "1", "name": "agent", "result": {"messages": LANGGRAPH_MESSAGES[1:2]}, "interrupts": []},
    {"id": "2", "name": "tools", "input": {}, "triggers": []},
    {"id": "2", "name": "tools", "result": [["messages", LANGGRAPH_MESSAGES[2:3]]], "interrupts": []},
    {"id": "3", "name": "agent", "result": {"messages": LANGGRAPH_MESSAGES[3:]}, "interrupts": []},
]  # fmt: skip
KINDS = ("task", "task_result", "task", "task_result", "task_result")


def pieces(message):
    """Return a message as it is streamed."""
    shared = {"type": "AIMessageChunk", "id": message["id"], "content": ""}
    yield {**shared, "content": message["content"]}
    for index, call in enumerate(message["tool_calls"]):
        for args in ("", *json.dumps(call["args"]).split()):
            named = {"name": call["name"], "id": call["id"]} if not args else {}
            yield {**shared, "tool_call_chunks": [{"index": index, "args": args, **named}]}
    about = message.get("response_metadata", {})
    yield {**shared, "usage_metadata": message["usage_metadata"], "response_metadata": about}


STREAMED = [
    piece
    for message in LANGGRAPH_MESSAGES
    for piece in (pieces(message) if message["type"] == "ai" else [message])
]
MESSAGES = [[piece, {"langgraph_node": "agent"}] for piece in STREAMED]
STREAMS = {
    "values": VALUES,
    "updates": UPDATES,
    "tasks": TASKS,
    "messages": MESSAGES,
    "checkpoints": LANGGRAPH[::-1],
    "debug": [
        {"type": kind, "step": 1, "timestamp": "2025-01-01T12:00:00Z", "payload": task}
        for kind, task in zip(KINDS, TASKS, strict=True)
    ],
}


@pytest.mark.parametrize("mode", STREAMS)
def test_streams_become_the_steps_of_the_state(mode):
    trace = read_trace(STREAMS[mode])
    assert (trace.format, trace.steps) == ("langgraph", STEPS)
    assert read_trace("\n".join(map(json.dumps, STREAMS[mode]))) == trace
    assert opens_session(STREAMS[mode][0])


@pytest.mark.parametrize("mode", STREAMS)
def test_a_mode_may_be_named(mode):
    held = STREAMS[mode]
    forms = (
        [[mode, part] for part in held],
        [[["team:1"], mode, part] for part in held],
        [[[], part] for part in held],
        [{"type": mode, "ns": [], "data": part} for part in held],
        [{"event": f"{mode}|team:1", "data": part} for part in held],
        [{"event": "metadata", "data": {"run_id": "r"}}, *({"event": mode, "data": part} for part in held)],
    )  # fmt: skip
    assert [read_trace(form).steps for form in forms] == [STEPS] * len(forms)


def test_a_history_and_a_state_are_the_thread():
    trace = read_trace(LANGGRAPH)
    assert (trace.id, trace.steps) == ("t1", STEPS)
    assert trace.not_carried == ("state field 'topic' (1)",)
    assert read_trace(LANGGRAPH[0]) == trace
    state = {"v": 1, "id": "k", "channel_values": LANGGRAPH[0]["values"]}
    assert read_trace(state).steps == STEPS
    assert read_trace({"config": LANGGRAPH[0]["config"], "checkpoint": state}).id == "t1"


def test_a_streamed_message_names_its_thread():
    parts = [["messages", [piece, {"langgraph_node": "agent", "thread_id": "t1"}]] for piece in STREAMED]  # fmt: skip
    values = [["values", part] for part in VALUES]
    trace = read_trace([*values[:2], *parts, *values[2:]])
    assert (trace.id, trace.steps) == ("t1", STEPS)


def test_events_of_the_server_are_read_as_it_sent_them():
    def sent(name, data):
        return f"event: {name}\ndata: {json.dumps(data)}\n\n"

    begun = sent("metadata", {"run_id": "r"})
    values = "".join(sent("values", part) for part in VALUES)
    assert read_trace(begun + values).steps == STEPS
    partial = "".join(
        sent("messages/partial", [{**message, "content": message["content"][:size]}])
        for message in LANGGRAPH_MESSAGES
        for size in (1, 4, None)
    )
    assert read_trace(begun + partial).steps == STEPS
    updates = "".join(sent("updates", part) for part in UPDATES)
    tuples = "".join(sent("messages", part) for part in MESSAGES)
    assert read_trace(begun + tuples + updates + values + partial).steps == STEPS


def test_modes_together_count_once():
    every = [[mode, part] for mode, parts in STREAMS.items() for part in parts]
    trace = read_trace(every)
    assert (trace.id, trace.steps) == ("t1", STEPS)


def test_a_message_that_was_removed_from_the_state_was_said():
    trimmed = {"messages": LANGGRAPH_MESSAGES[2:]}
    assert read_trace([*VALUES[:3], trimmed]).steps == STEPS


def test_marks_that_remove_messages_are_none():
    mark = {"type": "remove", "content": "", "id": "m1"}
    built = {"lc": 1, "type": "constructor", "id": ["messages", "RemoveMessage"], "kwargs": {}}
    last = {"agent": {"messages": [mark, built, LANGGRAPH_MESSAGES[3]]}}
    assert read_trace([*UPDATES[:3], last]).steps == STEPS


def test_a_result_without_an_id_in_an_update_is_that_of_the_state():
    answer = {**LANGGRAPH_MESSAGES[2], "id": None}
    parts = [["updates", {"tools": {"messages": [answer]}}], *(["values", part] for part in VALUES)]
    assert len(read_trace(parts).steps) == 4


def test_a_streamed_answer_that_no_state_has_is_a_call_unless_it_is_one_under_another_id():
    def streamed(text):
        chunk = {"type": "AIMessageChunk", "content": text, "id": "other"}
        return ["messages", [chunk, {"langgraph_node": "tools"}]]

    values = [["values", part] for part in VALUES]
    assert len(read_trace([streamed("Not there."), *values]).steps) == 4
    assert len(read_trace([streamed("Of another model."), *values]).steps) == 5


def test_states_of_different_threads_are_different_traces():
    others = [{"messages": [{**message, "id": f"o{message['id']}"} for message in state["messages"]]} for state in VALUES]  # fmt: skip
    assert len(read_traces([*VALUES, *others])) == 2
    assert len(single_traces([*VALUES, *others])) == 2
    other = {**LANGGRAPH[0], "config": {"configurable": {"thread_id": "t2"}}}
    assert [trace.id for trace in read_traces([*LANGGRAPH, other])] == ["t1", "t2"]


def test_states_without_anything_in_common_are_no_stream():
    states = [{"messages": [{**message, "id": None} for message in LANGGRAPH_MESSAGES]}] * 2
    assert [trace.format for trace in read_traces(states)] == ["langchain", "langchain"]
    assert not opens_session(VALUES[-1])


def test_updates_without_messages_are_parts_of_a_stream():
    others = [{"router": {"route": "agent"}}, {"tools": None}, {"__interrupt__": [{"value": "?"}]}]
    assert read_trace([*others, *UPDATES, *others]).steps == STEPS


def test_failed_nodes_are_noted():
    failed = {"id": "9", "name": "agent", "error": "boom", "result": {}, "interrupts": []}
    assert "errors of nodes (1)" in read_trace([*TASKS, failed, failed]).not_carried


@pytest.mark.parametrize(
    ("more", "is_known"),
    [
        ([], True),
        ([{"id": "1", "name": "agent", "input": {}, "triggers": []}], True),
        ([{"id": "1", "name": "agent", "result": [], "interrupts": []}], False),
        ([["updates", {"agent": None}]], False),
        ([["values", VALUES[0]]], False),
        ([{"values": VALUES[0], "next": [], "config": {}, "metadata": {"step": 0}}], True),
        ([{"values": VALUES[0], "next": [], "config": {}, "metadata": {"step": 1}}], False),
        ([["debug", {"type": "task_result", "payload": {"id": "1", "result": []}}]], False),
    ],
)
def test_calls_of_a_stream_without_an_answer_are_not_known_once_a_node_has_run(more, is_known):
    missing = read_trace([["values", VALUES[0]], *more]).missing
    assert ({"llm_calls", "tool_calls"} & missing.keys() == set()) is is_known


def without_id(message, **fields):
    return {**message, "id": None, **fields}


def test_records_that_have_conversations_are_no_updates():
    others = [{**message, "id": f"o{message['id']}"} for message in LANGGRAPH_MESSAGES]
    for name in ("trace", "record", "conversation"):
        records = [{name: {"messages": said}} for said in (LANGGRAPH_MESSAGES, others)]
        assert [trace.format for trace in read_traces(records)] == ["langchain", "langchain"]
        assert not opens_session(records[0])
    unknown = [{"answer": {"messages": said}} for said in (LANGGRAPH_MESSAGES, others)]
    with pytest.raises(UnknownTraceFormatError):
        read_traces(unknown)
    assert not opens_session(unknown[0])
    assert not opens_session({"dialog": LANGGRAPH_MESSAGES, "about": {}})


def test_outcomes_of_runs_that_began_with_the_same_message_are_different_traces():
    outcomes = [{"messages": [LANGGRAPH_MESSAGES[0], {**LANGGRAPH_MESSAGES[3], "id": name}]} for name in ("a", "b")]  # fmt: skip
    assert [len(trace.steps) for trace in read_traces(outcomes)] == [2, 2]
    turns = [{"messages": LANGGRAPH_MESSAGES[:2]}, {"messages": LANGGRAPH_MESSAGES}]
    assert read_trace(turns).steps == STEPS


def test_a_result_is_that_of_the_last_call_with_its_id():
    again = {**LANGGRAPH_MESSAGES[1], "id": "m5"}
    said = [LANGGRAPH_MESSAGES[1], without_id(LANGGRAPH_MESSAGES[2]), again, without_id(LANGGRAPH_MESSAGES[2], content="one")]  # fmt: skip
    updates = [{"node": {"messages": [message]}} for message in said]
    values = [{"messages": said[:count]} for count in (1, 2, 3, 4)]
    for parts in (updates, values, [["updates", part] for part in updates * 2]):
        assert [call.output for call in read_trace(parts).steps_of("tool")] == ["none", "one"]


def test_a_node_may_return_a_single_message_or_one_with_a_role():
    single = [{node: {"messages": said["messages"][0]}} for part in UPDATES for node, said in part.items()]  # fmt: skip
    assert read_trace(single).steps == STEPS
    assert read_trace([["updates", {"agent": message}] for message in LANGGRAPH_MESSAGES]).steps == STEPS  # fmt: skip
    said = {"agent": {"messages": [{"role": "assistant", "content": "Not there."}]}}
    assert len(read_trace([*UPDATES[:3], said]).steps_of("llm")) == 2


def test_a_message_without_an_id_in_an_update_is_that_of_the_state():
    parts = [
        part
        for message, state in zip(LANGGRAPH_MESSAGES, VALUES, strict=True)
        for part in (["updates", {"node": {"messages": [without_id(message)]}}], ["values", state])
    ]
    assert read_trace(parts).steps == STEPS


def test_states_of_subgraphs_are_of_the_run():
    inner = {"messages": [{**message, "id": f"o{message['id']}"} for message in LANGGRAPH_MESSAGES[:2]]}  # fmt: skip
    forms = (
        [*([[], part] for part in VALUES), [["tools:1"], inner]],
        [*({"event": "values", "data": part} for part in VALUES), {"event": "values|tools:1", "data": inner}],
        [*({"type": "values", "ns": [], "data": part} for part in VALUES), {"type": "values", "ns": ["tools:1"], "data": inner}],
    )  # fmt: skip
    for form in forms:
        assert len(read_trace(form).steps_of("llm")) == 3


def test_an_event_without_data_is_part_of_a_stream():
    values = "".join(f"event: values\ndata: {json.dumps(part)}\n\n" for part in VALUES)
    assert read_trace(f"{values}event: end\ndata: null\n\n").steps == STEPS


def test_streamed_calls_are_no_repeat_of_an_answer_without_text():
    asked = {**LANGGRAPH_MESSAGES[1], "content": ""}
    state = ["values", {"messages": [LANGGRAPH_MESSAGES[0], asked, *LANGGRAPH_MESSAGES[2:]]}]
    call = {"name": "search", "args": {}, "id": "c9"}
    inner = {"type": "AIMessageChunk", "id": "other", "content": "", "tool_calls": [call]}
    streamed = ["messages", [inner, {"langgraph_node": "tools"}]]
    assert [call.id for call in read_trace([state, streamed]).steps_of("tool")] == ["c1", "c9"]


def test_a_streamed_answer_is_no_repeat_of_an_earlier_turn():
    state = ["values", {"messages": LANGGRAPH_MESSAGES}]
    said = {"type": "AIMessageChunk", "id": "other", "content": "Not there."}
    called = {**said, "id": "another", "content": "", "tool_calls": LANGGRAPH_MESSAGES[1]["tool_calls"]}  # fmt: skip
    streamed = [["messages", [piece, {"langgraph_node": "tools"}]] for piece in (called, said)]
    trace = read_trace([state, *streamed, state])
    assert (len(trace.steps_of("llm")), len(trace.steps_of("tool"))) == (4, 2)


def test_a_message_of_another_kind_hides_no_others():
    odd = {"type": "note", "content": "?", "id": "odd"}
    states = [*VALUES[:2], *({"messages": [odd, *state["messages"]]} for state in VALUES[2:])]
    for parts in (states, [["values", state] for state in states]):
        trace = read_trace(parts)
        assert sorted(step.id for step in trace.steps) == sorted(step.id for step in STEPS)
        assert "tool_calls" not in trace.missing
    calling = {**odd, "tool_calls": [{"name": "search", "args": {}, "id": "c9"}]}
    assert "tool_calls" in read_trace([*states, {"messages": [*LANGGRAPH_MESSAGES, calling]}]).missing  # fmt: skip


def test_items_that_are_not_read_may_have_calls():
    parts = [["values", VALUES[-1]]] * 20
    assert "tool_calls" not in read_trace([*parts, None]).missing
    assert "tool_calls" in read_trace([*parts, {"messages": "..."}]).missing


def test_tasks_of_a_function_return_messages_and_the_function_all_of_them():
    tasks = [{"task": message} for message in LANGGRAPH_MESSAGES]
    assert read_trace([*tasks, {"agent": LANGGRAPH_MESSAGES}]).steps == STEPS


def test_a_stream_may_begin_without_messages():
    begun = {"agent.before_model": None}
    openings = (
        {"event": "metadata", "data": {"run_id": "r"}},
        ["updates", begun],
        [["team:1"], "updates", begun],
        {"type": "updates", "ns": [], "data": begun},
        {"type": "checkpoint", "step": -1, "timestamp": "2025-01-01T12:00:00Z", "payload": {"values": {}}},
    )  # fmt: skip
    assert all(map(opens_session, openings))
    others = (begun, ["updates", 1], [["a"], {"b": {}}], {"event": "metadata", "data": {}})
    assert not any(map(opens_session, others))


def test_a_stream_of_a_thread_that_went_on_is_in_order():
    begun = ["checkpoints", {**LANGGRAPH[3], "metadata": {"step": 7}}]
    assert read_trace([begun, *(["updates", part] for part in UPDATES[1:])]).steps == STEPS
