"""LangGraph's checkpoints: each message of a thread counts once, and what cannot be unpacked leaves lower bounds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from support.databases import (
    LANGGRAPH_ROWS,
    LANGGRAPH_TRACE,
    checkpoint,
    faults_in,
    lines_of,
    packed,
    traces_in,
    write,
)
from support.trace_examples.agent_frameworks import LANGGRAPH_MESSAGES
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge.traces import Trace

CLASS = ["langchain", "schema", "messages"]


def traces_of(tmp_path: Path, *rows: dict[str, Any]) -> list[Trace]:
    lines = lines_of(write(tmp_path / "checkpoints.sqlite", {"checkpoints": list(rows)}))
    assert faults_in(lines) == []
    return traces_in(lines)


def constructed(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as LangChain writes its objects in JSON."""
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    path = [*CLASS, names[message["type"]]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": message}


def test_checkpoints_written_as_json_are_read_too(tmp_path: Path) -> None:
    state = {"messages": list(map(constructed, LANGGRAPH_MESSAGES)), "topic": "x"}
    row = {**LANGGRAPH_ROWS[0], "type": "json", "checkpoint": json.dumps({"channel_values": state})}
    [trace] = traces_of(tmp_path, row)
    assert trace.steps == LANGGRAPH_TRACE.steps
    old = {"thread_id": "t", "thread_ts": "1", "parent_ts": None}
    path = write(tmp_path / "old.db", {"checkpoints": [old | {"checkpoint": row["checkpoint"]}]})
    assert traces_in(lines_of(path)) == [trace]


def test_a_message_in_checkpoints_written_as_json_is_kept_once(tmp_path: Path) -> None:
    said = [{"type": "human", "id": f"m{number}", "content": "x" * 100} for number in range(50)]
    states = [{"messages": list(map(constructed, said[:number]))} for number in range(51)]
    old = {"thread_id": "t", "parent_ts": None}
    rows = [
        {**old, "thread_ts": f"{number:02}", "checkpoint": json.dumps({"channel_values": state})}
        for number, state in enumerate(states)
    ]
    [line] = lines_of(write(tmp_path / "old.db", {"checkpoints": rows}))
    assert len(line.raw) < 30_000
    [trace] = traces_in([line])
    assert len(trace.steps) == 50


def test_a_message_is_kept_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    said = LANGGRAPH_MESSAGES[1]
    first = packed({**said, "content": "I"})
    asked = packed(LANGGRAPH_MESSAGES[0])
    rows = [checkpoint(number, [asked, first]) for number in range(50)]
    path = write(tmp_path / "a.db", {"checkpoints": [*rows, *LANGGRAPH_ROWS]})
    [line] = lines_of(path)
    assert len(line.raw) < 20_000
    [trace] = traces_in([line])
    assert trace.steps == LANGGRAPH_TRACE.steps


def test_messages_that_left_the_state_count(tmp_path: Path) -> None:
    rows = [*LANGGRAPH_ROWS, checkpoint(9, list(map(packed, LANGGRAPH_MESSAGES[-1:])), topic="x")]
    assert traces_of(tmp_path, *rows) == [LANGGRAPH_TRACE]


def test_each_thread_is_a_trace_whatever_the_subgraph(tmp_path: Path) -> None:
    other = [{**row, "thread_id": "u", "checkpoint_ns": "sub:1"} for row in LANGGRAPH_ROWS]
    traces = traces_of(tmp_path, *(row for both in zip(LANGGRAPH_ROWS, other, strict=True) for row in both))  # fmt: skip
    assert [trace.id for trace in traces] == ["t", "u"]
    assert [trace.steps for trace in traces] == [LANGGRAPH_TRACE.steps] * 2


def said(number: int, text: str = "x", kind: str = "ai") -> dict[str, Any]:
    """Return a message with an id as LangChain gives one."""
    name = f"lc_run--019b1df9-afe1-7112-8add-{number:012}-0"
    return {**LANGGRAPH_MESSAGES[-1], "type": kind, "id": name, "content": text}


def test_messages_that_a_thread_has_copied_from_another_one_do_not_count(tmp_path: Path) -> None:
    asked, told, own, late = said(1, kind="human"), said(2), said(3), said(4)
    changed = {**told, "content": "y"}
    first = [checkpoint(at, list(map(packed, [asked, told][:at]))) for at in (1, 2)]
    fork = [
        checkpoint(at, list(map(packed, messages)), "fork")
        for at, messages in enumerate(
            ([asked, told], [asked, told, own], [asked, told, own, late]), 3
        )
    ]
    copy = checkpoint(7, [packed(asked), packed(told)], "copy")
    edited = checkpoint(8, [packed(asked), packed(changed)], "edited")
    traces = traces_of(tmp_path, *first, *fork, copy, edited)
    assert [trace.id for trace in traces] == ["t", "fork", "copy", "edited"]
    assert [[step.id for step in trace.steps] for trace in traces] == [
        [asked["id"], told["id"]],
        [own["id"], late["id"]],
        [asked["id"], told["id"]],
        [told["id"]],
    ]
    assert [trace.not_carried for trace in traces] == [
        (),
        ("messages copied from another thread (2)",),
        ("messages that are all copied from another thread: all of them count (2)",),
        ("messages copied from another thread (1)",),
    ]
    assert ["llm_calls" in trace.missing for trace in traces] == [False, False, False, True]


def with_state(row: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a checkpoint with another state."""
    held = msgspec.msgpack.decode(row["checkpoint"]) | {"channel_values": state}
    return {**row, "checkpoint": msgspec.msgpack.encode(held)}


@pytest.mark.parametrize("is_first", [True, False])
def test_documents_beside_messages_are_no_messages_of_the_thread(
    is_first: bool, tmp_path: Path
) -> None:
    documents = {"documents": [{"id": "d1", "page_content": "x"}]}
    asked, told, own = (packed(said(number)) for number in (1, 2, 3))
    states: list[tuple[str, list[Any]]] = [
        ("t", [asked, told]),
        ("fork", [asked, told]),
        ("fork", [asked, told, own]),
        ("copy", [asked, told]),
    ]
    rows = [
        with_state(
            checkpoint(at, [], thread),
            documents | {"messages": held} if is_first else {"messages": held} | documents,
        )
        for at, (thread, held) in enumerate(states)
    ]
    traces = traces_of(tmp_path, *rows)
    assert [(trace.id, len(trace.steps_of("llm"))) for trace in traces] == [
        ("t", 2),
        ("fork", 1),
        ("copy", 2),
    ]
    assert all("llm_calls" not in trace.missing for trace in traces)


def test_copies_do_not_count_beside_messages_without_ids(tmp_path: Path) -> None:
    copied, own = packed(said(1)), packed({**said(2), "id": None})
    forked = [checkpoint(2, [copied], "fork"), checkpoint(3, [copied], "fork", answers=[own])]
    _, fork = traces_of(tmp_path, checkpoint(1, [copied]), *forked)
    assert len(fork.steps) == 1
    assert fork.not_carried == ("messages copied from another thread (1)",)


def answer(number: int, call: str) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    asked = {"name": "search", "args": {"q": "x"}, "id": call, "type": "tool_call"}
    return {**said(number, ""), "tool_calls": [asked], "usage_metadata": usage}


def found(number: int, call: str) -> dict[str, Any]:
    return {**said(number, "none", "tool"), "tool_call_id": call}


def grown(thread: str, first_row: int, messages: list[Any]) -> list[dict[str, Any]]:
    """Return the rows of a thread to whose state one message after the other was added."""
    return [
        checkpoint(first_row + count, messages[:count], thread)
        for count in range(1, len(messages) + 1)
    ]


@pytest.mark.parametrize("form", [packed, constructed])
@pytest.mark.parametrize("changes", [{}, {"usage_metadata": None}])
def test_an_answer_that_another_thread_had_first_may_come_from_a_cache(
    changes: dict[str, Any], form: Any, tmp_path: Path
) -> None:
    first = [said(1, kind="human"), answer(2, "c1"), found(3, "c1"), said(4)]
    cached, last = ({**message, **changes} for message in (first[1], first[3]))
    then = [said(5, kind="human"), cached, found(6, "c1"), last, said(7)]
    rows = [*grown("t", 0, list(map(form, first))), *grown("u", 9, list(map(form, then)))]
    one, two = traces_of(tmp_path, *rows)
    assert [step.type for step in one.steps] == ["user", "llm", "tool", "llm"]
    assert [step.type for step in two.steps] == ["user", "other", "tool", "other", "llm"]
    assert [bool(step.usage) for step in two.steps] == [False] * 4 + [True]
    assert two.steps[2].output == "none"
    for name in ("llm_calls", "token_usage", "cost"):
        assert "an answer has the id of one in another thread" in two.missing[name]  # type: ignore[index]
    assert "tool_calls" not in two.missing
    assert one.not_carried == two.not_carried == ()


def test_a_result_that_another_thread_had_first_may_come_from_a_cache(tmp_path: Path) -> None:
    first = [said(1, kind="human"), answer(2, "c1"), found(3, "c1")]
    then = [said(5, kind="human"), answer(6, "c1"), found(3, "c1"), answer(7, "c2"), found(8, "c2")]
    rows = [*grown("t", 0, list(map(packed, first))), *grown("u", 9, list(map(packed, then)))]
    _, trace = traces_of(tmp_path, *rows)
    assert [step.type for step in trace.steps] == ["user", "llm", "other", "llm", "tool"]
    assert "a result has the id of one in another thread" in trace.missing["tool_calls"]
    assert "llm_calls" not in trace.missing


def test_a_thread_of_copies_is_read_with_what_its_nodes_wrote(tmp_path: Path) -> None:
    asked = said(1, kind="human")
    copies = [checkpoint(at, [packed(asked)], thread) for at, thread in enumerate(("t", "copy"))]
    writes = [write_of(at, [said(2)], thread_id=thread) for at, thread in enumerate(("t", "copy"))]
    path = write(tmp_path / "a.db", {"checkpoints": copies, "writes": writes})
    traces = traces_in(lines_of(path))
    assert [[step.type for step in trace.steps] for trace in traces] == [["user", "llm"]] * 2


def test_a_thread_without_an_answer_does_not_say_how_often_models_were_called(
    tmp_path: Path,
) -> None:
    [trace] = traces_of(tmp_path, checkpoint(1, [packed(LANGGRAPH_MESSAGES[0])], plan="go"))
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


def step(number: int, messages: list[Any], **state: Any) -> dict[str, Any]:
    """Return the row of a checkpoint with the number of its step, from -1, in its metadata."""
    metadata = json.dumps({"source": "loop", "step": number}).encode()
    return {**checkpoint(number + 1, messages, **state), "metadata": metadata}


ASKED = packed(LANGGRAPH_MESSAGES[0])
INPUT = step(-1, [], __start__={"messages": [ASKED]})
#: A thread whose first node is still to run.
BEGUN = [INPUT, step(0, [ASKED], **{"branch:to:agent": None, "user_name": "Ann"})]


@pytest.mark.parametrize(
    ("later", "is_known"),
    [
        ([], True),
        ([step(1, [ASKED])], False),
        ([step(1, [ASKED], **{"branch:to:agent": None, "plan": "go"})], False),
        ([step(1, [ASKED], plan="a"), step(2, [ASKED], plan="b")], False),
    ],
    ids=["begun", "ended", "another node", "two nodes"],
)
def test_calls_of_a_thread_without_an_answer_are_not_known_once_a_node_has_run(
    later: list[dict[str, Any]], is_known: bool, tmp_path: Path
) -> None:
    [trace] = traces_of(tmp_path, *BEGUN, *later)
    reason = "no message is an answer of a model: what nodes called may stand elsewhere"
    assert ("llm_calls" not in trace.missing) is is_known
    for name in () if is_known else ("llm_calls", "tool_calls"):
        assert trace.missing[name].startswith(reason)  # type: ignore[index]
    assert [found.output for found in trace.steps] == ["Find x."]
    unread = {**BEGUN[1], "metadata": b"\xc1"}
    (tmp_path / "checkpoints.sqlite").unlink()
    [trace] = traces_of(tmp_path, INPUT, unread, *later)
    assert "llm_calls" in trace.missing  # the name may be what a node has written


def test_a_state_with_messages_alone_is_no_sign_that_a_node_has_run(tmp_path: Path) -> None:
    row = checkpoint(0, [ASKED], **{"start:agent": "__start__", "branch:to:agent": None})
    [trace] = traces_of(tmp_path, row)
    assert "llm_calls" not in trace.missing
    odd = checkpoint(0, [ASKED]) | {"checkpoint": msgspec.msgpack.encode({"channel_values": {"messages": [ASKED], 5: "x"}})}  # fmt: skip
    (tmp_path / "checkpoints.sqlite").unlink()
    [trace] = traces_of(tmp_path, odd)
    assert "llm_calls" in trace.missing


def test_threads_without_messages_are_left_out(tmp_path: Path) -> None:
    other = checkpoint(1, [], "u", topic="x")
    assert traces_of(tmp_path, other, *LANGGRAPH_ROWS) == [LANGGRAPH_TRACE]
    [(_, message)] = faults_in(lines_of(write(tmp_path / "b.db", {"checkpoints": [other]})))
    assert "the rows of checkpoints have no messages" in message


def write_of(number: int, value: Any, **facts: Any) -> dict[str, Any]:
    """Return the row of what a node wrote after a checkpoint."""
    return {
        "thread_id": "t",
        "checkpoint_ns": "",
        "checkpoint_id": f"1f{number:04}",
        "task_id": f"task{number}",
        "idx": 0,
        "channel": "messages",
        "type": "msgpack",
        "value": msgspec.msgpack.encode(value),
        **facts,
    }


def with_writes(
    tmp_path: Path, checkpoints: list[dict[str, Any]], *writes: dict[str, Any]
) -> list[Trace]:
    followed = [
        {**row, "parent_checkpoint_id": before["checkpoint_id"] if before else None}
        for row, before in zip(checkpoints, [None, *checkpoints[:-1]], strict=True)
    ]
    path = write(tmp_path / "a.db", {"checkpoints": followed, "writes": list(writes)})
    return traces_in(lines_of(path))


def test_a_node_that_failed_or_wrote_something_else_may_have_called_a_model(tmp_path: Path) -> None:
    error = write_of(1, "boom", channel="__error__")
    [trace] = with_writes(tmp_path, BEGUN, error)
    told = "no message is an answer of a model: whether the node that failed called one is not"
    assert trace.missing["llm_calls"].startswith(told)
    assert "errors of nodes (1)" in trace.not_carried
    (tmp_path / "a.db").unlink()
    [trace] = with_writes(tmp_path, BEGUN, write_of(1, "go", channel="plan"))
    assert "what nodes called may stand elsewhere" in trace.missing["tool_calls"]
    (tmp_path / "a.db").unlink()
    [trace] = with_writes(tmp_path, BEGUN, write_of(1, None, channel="branch:to:x"))
    assert "tool_calls" not in trace.missing


def test_what_nodes_wrote_counts_if_no_checkpoint_has_it_yet(tmp_path: Path) -> None:
    messages = list(map(packed, LANGGRAPH_MESSAGES))
    writes = [write_of(number, [message]) for number, message in enumerate(messages)]
    for known in (2, len(messages)):
        assert with_writes(tmp_path, LANGGRAPH_ROWS[:known], *writes) == [LANGGRAPH_TRACE]
        (tmp_path / "a.db").unlink()
    # Of a checkpoint that another one follows, they are not read.
    odd = write_of(0, 1) | {"value": b"\xc1"}
    assert with_writes(tmp_path, LANGGRAPH_ROWS, odd) == [LANGGRAPH_TRACE]


@pytest.mark.parametrize(
    ("odd", "is_missing"),
    [
        ({"value": b"\xc1"}, True),
        ({"type": "pickle"}, True),
        ({"value": 5}, True),
        ({"value": msgspec.msgpack.encode("x" * 8 * MIB)}, True),
        ({"type": "null", "value": b""}, False),
        ({"channel": "branch:to:x", "value": b"\xc1"}, False),
        ({"channel": "__error__", "value": b"\xc1"}, False),
        ({"channel": "topic"}, False),
    ],
)
def test_a_write_that_cannot_be_unpacked_leaves_lower_bounds(
    odd: dict[str, Any], is_missing: bool, tmp_path: Path
) -> None:
    last = len(LANGGRAPH_ROWS) - 1
    [trace] = with_writes(tmp_path, LANGGRAPH_ROWS, write_of(last, "x") | odd)
    assert trace.steps == LANGGRAPH_TRACE.steps
    assert ("tool_calls" in trace.missing) is is_missing


def test_messages_are_read_whatever_their_channel_is_called(tmp_path: Path) -> None:
    held = {"channel_values": {"chat": list(map(packed, LANGGRAPH_MESSAGES)), "topic": "x"}}
    row = {**LANGGRAPH_ROWS[0], "checkpoint": msgspec.msgpack.encode(held)}
    [trace] = traces_of(tmp_path, row)
    assert [step.type for step in trace.steps] == [step.type for step in LANGGRAPH_TRACE.steps]


def nested(levels: int) -> Any:
    held: Any = {"type": "human", "content": "x", "id": "m"}
    for _ in range(levels):
        held = msgspec.msgpack.Ext(2, msgspec.msgpack.encode(("m", "C", held)))
    return held


@pytest.mark.parametrize(
    ("made", "code"),
    [({}, "NO_SESSIONS"), ({"channel_versions": {"messages": 1}}, "INVALID_JSON")],
)
def test_a_checkpoint_without_a_state_has_no_messages_unless_its_state_is_elsewhere(
    made: dict[str, Any], code: str, tmp_path: Path
) -> None:
    held = {"v": 2, "ts": "2025-01-01T12:00:00Z", "id": "1", **made}
    row = {**LANGGRAPH_ROWS[0], "checkpoint": msgspec.msgpack.encode(held)}
    [(found, _)] = faults_in(lines_of(write(tmp_path / "a.db", {"checkpoints": [row]})))
    assert found == code


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "pickle"},
        {"type": None},
        {"checkpoint": b"\x80\x04"},
        {"checkpoint": msgspec.msgpack.encode({"v": 1})},
        {"checkpoint": msgspec.msgpack.encode({"channel_values": [1]})},
        {"checkpoint": b"\x91" * 100_000},
        checkpoint(8, [], topic="x" * 8 * MIB),
        checkpoint(8, [nested(60)]),
        checkpoint(8, [msgspec.msgpack.Ext(5, b"\xc1")]),
    ],
)
def test_a_checkpoint_that_cannot_be_unpacked_leaves_lower_bounds(
    odd: dict[str, Any], tmp_path: Path
) -> None:
    row = {**LANGGRAPH_ROWS[-1], "checkpoint_id": "9", **odd}
    [trace] = traces_of(tmp_path, *LANGGRAPH_ROWS, row)
    assert trace.steps == LANGGRAPH_TRACE.steps
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


@pytest.mark.parametrize(
    "odd",
    [
        {b"key": b"\x00\xff", 1: 2.5, None: float("nan")},
        [msgspec.msgpack.Ext(6, b"numpy"), msgspec.msgpack.Ext(0, msgspec.msgpack.encode(("uuid", "UUID", "x")))],
        msgspec.msgpack.Ext(1, msgspec.msgpack.encode(("a", "b"))),
        {"type": "ai", "id": 5, "content": [None, 1]},
        [{"type": "ai", "id": "m9"}, 7],
    ],
)  # fmt: skip
def test_values_of_any_kind_stand_beside_messages(odd: Any, tmp_path: Path) -> None:
    rows = [checkpoint(8, list(map(packed, LANGGRAPH_MESSAGES)), topic="x", more=odd)]
    [trace] = traces_of(tmp_path, *LANGGRAPH_ROWS, *rows)
    assert trace.steps[: len(LANGGRAPH_TRACE.steps)] == LANGGRAPH_TRACE.steps


PLAIN = [
    {"role": "user", "content": "Find."},
    {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "s", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "none"},
    {"role": "assistant", "content": "Nothing."},
]  # fmt: skip


def test_plain_messages_are_read(tmp_path: Path) -> None:
    rows = [checkpoint(number, PLAIN[:number], "u") for number in range(5)]
    traces = traces_of(tmp_path, *rows, *LANGGRAPH_ROWS)
    assert [trace.id for trace in traces] == ["u", "t"]
    assert [step.type for step in traces[0].steps] == ["user", "llm", "tool", "llm"]
    assert traces[0].missing.keys().isdisjoint({"llm_calls", "tool_calls"})


@pytest.mark.parametrize("known", [2, 4])
@pytest.mark.parametrize("is_whole", [True, False])
def test_plain_messages_that_nodes_wrote_count_once(
    known: int, is_whole: bool, tmp_path: Path
) -> None:
    rows = [checkpoint(number, PLAIN[:number]) for number in range(known)]
    written = PLAIN[:known] if is_whole else PLAIN[known - 1 : known]
    [trace] = with_writes(tmp_path, rows, write_of(known - 1, written))
    assert [step.type for step in trace.steps][:known] == ["user", "llm", "tool", "llm"][:known]
    assert len(trace.steps_of("llm")) == known // 2
    assert len(trace.steps_of("tool")) == 1


@pytest.mark.parametrize(
    "state",
    [
        {"messages": [{"speaker": "bot", "text": "Hi."}]},
        {"messages": [["user", "Hi."]]},
        {"messages": [], "history": PLAIN},
    ],
)
def test_a_thread_whose_messages_have_another_form_is_an_error(
    state: dict[str, Any], tmp_path: Path
) -> None:
    row = checkpoint(1, **{"thread": "u", **state})
    lines = lines_of(write(tmp_path / "a.db", {"checkpoints": [row, *LANGGRAPH_ROWS]}))
    [(_, message)] = faults_in(lines)
    assert message.endswith("session u in the table checkpoints cannot be read: its messages have a form that is not read")  # fmt: skip
    assert traces_in(lines) == [LANGGRAPH_TRACE]


@pytest.mark.parametrize(
    "more",
    [
        checkpoint(8, list(map(packed, LANGGRAPH_MESSAGES)), history=PLAIN),
        checkpoint(8, ["Hi."]),
    ],
)
def test_messages_of_another_form_leave_lower_bounds(more: dict[str, Any], tmp_path: Path) -> None:
    [trace] = traces_of(tmp_path, *LANGGRAPH_ROWS, more)
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (PLAIN, PLAIN[-1:]),
        (
            [{"role": "assistant", "tool_calls": [{"name": "a", "args": {}}]}],
            [{"role": "assistant", "tool_calls": [{"name": "b", "args": {}}]}],
        ),
    ],
)
def test_plain_messages_in_place_of_others_leave_lower_bounds(
    first: list[Any], then: list[Any], tmp_path: Path
) -> None:
    [trace] = traces_of(tmp_path, checkpoint(1, first), checkpoint(2, then))
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()
