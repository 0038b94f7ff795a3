"""Tool definitions in a column beside the messages, which are proposed together as one trace."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.mapping.mapping_text import parse_mapping, value_of
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.proposals.trace_columns import left_out_tools_note
from weighbridge_producer.input.recognition import recognise

if TYPE_CHECKING:
    from pathlib import Path

CALL = {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
MESSAGES = [
    {"role": "user", "content": "Find x."},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
]
SHARED = [{"from": "human", "value": "Find x."}, {"from": "gpt", "value": "I cannot."}]
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
BARE = [{"name": "search", "description": "", "parameters": SCHEMA}]
TOOLS = [{"type": "function", "function": BARE[0]}]
ANTHROPIC = [{"name": "search", "input_schema": SCHEMA}]


def row(messages: Any = MESSAGES, tools: Any = TOOLS, key: str = "tools") -> dict[str, Any]:
    return {"id": "a", "messages": messages, key: tools}


def text(value: Any) -> str:
    return orjson.dumps(value).decode()


@pytest.mark.parametrize(
    ("suffix", "as_text"), [(".csv", True), (".parquet", True), (".parquet", False)]
)
def test_messages_and_tools_of_a_table_are_proposed_as_one_trace(
    suffix: str, as_text: bool, tmp_path: Path
) -> None:
    rows = [row() | {"id": each, "team": "red"} for each in ("a", "b")]
    if as_text:
        rows = [each | {key: text(each[key]) for key in ("messages", "tools")} for each in rows]
    path = tmp_path / f"a{suffix}"
    if suffix == ".csv":
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows(rows)
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    opened = Opened.first_of(Paths([path]))
    found = recognise(opened, [GraderSpec("tool-schema")], Settings())
    assert found
    assert found.proposal
    assert found.proposal.text == (
        'custom_id=id,trace={"messages": {messages}, "tools": {tools}},metadata=team'
    )
    mapping = parse_mapping([found.proposal.text])
    assert str(mapping) == found.proposal.text
    trace = read_trace(mapping.case(found.rows[0], 1)["inputs"]["trace"])
    assert [tool.name for tool in trace.tools or ()] == ["search"]
    assert [step.name for step in trace.steps if step.type == "tool"] == ["search"]


@pytest.mark.parametrize(
    ("given", "trace"),
    [
        (row(tools=BARE, key="functions"), '{"messages": {messages}, "tools": {functions}}'),
        (row(key="tool_definitions"), '{"messages": {messages}, "tools": {tool_definitions}}'),
        (row(tools=ANTHROPIC), '{"messages": {messages}, "tools": {tools}}'),
        (row(SHARED), '{"conversations": {messages}, "tools": {tools}}'),
        ({"run": row()}, '{"messages": {run.messages}, "tools": {run.tools}}'),
        (row(tools=["search"]), "messages"),
        (row(tools=[]), "messages"),
        (row(tools="search"), "messages"),
        (row(key="tool_calls"), "messages"),
        (row({"messages": MESSAGES}), "messages"),
    ],
    ids=[
        *("functions", "definitions", "Anthropic", "ShareGPT", "nested"),
        *("names", "none", "text", "another name", "no list of messages"),
    ],
)  # fmt: skip
def test_only_definitions_beside_a_list_of_messages_are_taken(
    given: dict[str, Any], trace: str
) -> None:
    found = propose([given], ["trace"])
    assert found.fields["trace"] == trace
    assert not found.notes


def test_tools_of_rows_that_make_no_json_are_left_out_and_that_is_said() -> None:
    written = row(text(MESSAGES), text(TOOLS))
    for bad in (written | {"tools": ""}, written | {"messages": str(MESSAGES)}):
        found = propose([written, bad | {"id": "b"}], ["trace"])
        assert found.fields["trace"] == "messages"
        assert found.caution == (
            "trace: the tool definitions in 'tools' are left out, because in some rows they or 'messages' are not JSON; write both"
            ' as JSON, [] for no tools, and map trace={"messages": {messages}, "tools": {tools}}'
        )
    found = propose([written, written | {"id": "b", "tools": "[]"}], ["trace"])
    assert found.fields["trace"].startswith("{")
    assert not found.caution


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        (
            {"query": MESSAGES[:1], "response": MESSAGES[1:], "tool_definitions": TOOLS},
            'both are taken by trace={"prompt": {query}, "completion": {response}, "tools": {tool_definitions}}',
        ),
        (
            {"in": {"query": MESSAGES[:1], "reply": MESSAGES[1:]}},
            """'in.query' are left out; both are taken by trace={"prompt": {in.query}, "completion": {in.reply}}""",
        ),
        ({"query": MESSAGES[:1], "response": text(MESSAGES[1:])}, '"completion": {response}}'),
        (
            {"input": {"messages": MESSAGES[:1]}, "output": {"messages": MESSAGES[1:]}},
            '"completion": {output.messages}}',
        ),
        ({"que{ry": MESSAGES[:1], "response": MESSAGES[1:]}, "write both into one list"),
        ({"query": MESSAGES, "response": "I look."}, ""),
        ({"query": MESSAGES, "tools": TOOLS}, ""),
    ],
)
def test_messages_that_go_on_in_another_column_are_said_to_be_left_out(
    rows: dict[str, Any], note: str
) -> None:
    caution = propose([{"id": each, **rows} for each in "ab"], ["trace"]).caution
    assert caution.endswith(note)
    assert ("are left out" in caution) == bool(note)


@pytest.mark.parametrize("written", [MESSAGES[1:], text(MESSAGES[1:])], ids=["list", "text"])
def test_the_mapping_that_takes_both_lists_reads_a_whole_trace(written: object) -> None:
    given = {"id": "a", "query": MESSAGES[:1], "response": written, "tool_definitions": TOOLS}
    caution = propose([given], ["trace"]).caution
    mapping = parse_mapping([f"custom_id=id,{caution.rpartition(' by ')[2]}"])
    trace = read_trace(mapping.case(given, 1)["inputs"]["trace"])
    assert [tool.name for tool in trace.tools or ()] == ["search"]
    assert [step.type for step in trace.steps] == ["user", "llm", "tool"]


EXAMPLES = [*MESSAGES[:1], {"role": "assistant", "content": "An example."}, *MESSAGES[:1]]


@pytest.mark.parametrize(
    ("rows", "trace"),
    [
        (
            {"query": MESSAGES[:1], "response": MESSAGES[1:], "tool_definitions": TOOLS},
            '{"messages": {response}, "tools": {tool_definitions}}',
        ),
        ({"query": EXAMPLES, "response": MESSAGES[1:]}, "response"),
        ({"messages": MESSAGES[:1], "response": MESSAGES[1:]}, "response"),
        ({"input": {"messages": MESSAGES[:1]}, "output": {"messages": MESSAGES[1:]}}, "output.messages"),
        ({"messages": EXAMPLES, "response": MESSAGES[1:]}, "messages"),
        ({"messages": MESSAGES, "summary": MESSAGES[1:]}, "messages"),
        ({"messages": MESSAGES[:1], "response": MESSAGES[:1]}, "messages"),
    ],
)  # fmt: skip
def test_of_two_lists_of_messages_that_with_the_agents_is_the_trace(
    rows: dict[str, Any], trace: str
) -> None:
    found = propose([{"id": each, **rows} for each in "ab"], ["trace"])
    assert found.fields["trace"] == trace
    left_out = next(key for key in rows if f"{{{key}}}" not in trace and not trace.startswith(key))
    assert f"trace: the messages in '{left_out}" in found.caution


def test_what_the_agent_was_asked_is_not_guessed_to_be_a_trace() -> None:
    rows = [{"id": each, "prompt": MESSAGES[:1], "completion": "Found."} for each in "ab"]
    assert propose(rows, ["trace"]).missing == ("trace",)
    done = [row | {"done": MESSAGES} for row in rows]
    assert propose(done, ["trace"]).fields["trace"] == "done"


def test_a_mapping_of_the_messages_alone_is_said_to_leave_out_the_tools_if_a_grader_checks_calls() -> (
    None
):
    def note(path: str, key: str = "tools", grader: str = "tool-schema") -> str:
        return left_out_tools_note(value_of(path), [row(key=key)], [GraderSpec(grader)])

    whole = 'trace={"messages": {messages}, "tools": {tools}}'
    assert note("messages").endswith(f"tool-schema checks calls against them with {whole}")
    assert note("messages", grader="loop") == ""
    assert note("messages", key="sources") == ""
    assert note(whole.removeprefix("trace=")) == ""
