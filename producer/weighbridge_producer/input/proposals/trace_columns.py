"""Traces that rows hold in two columns, with the messages in one and the definitions of the tools in the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from weighbridge.errors import WeighbridgeError
from weighbridge.traces.fields import TOOL_FIELDS
from weighbridge.traces.read import read_trace
from weighbridge_producer.input.mapping.conversations import HUMANS, is_by_agent, is_conversation
from weighbridge_producer.input.mapping.path_texts import around, last_part, levels
from weighbridge_producer.input.mapping.row_values import Path, Template, json_within
from weighbridge_producer.input.proposals.column_names import normal
from weighbridge_producer.input.proposals.column_values import column_values
from weighbridge_producer.input.proposals.proposed_ids import IS_BRACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.traces import Trace
    from weighbridge_producer.input.mapping.row_values import Row, Value
    from weighbridge_producer.input.proposals.column_values import Columns

_TOOLS = frozenset(map(normal, TOOL_FIELDS))  #: names of columns with definitions
_KEYS = ("messages", "conversations")  #: of messages in a trace; the second for `from` and `value`
_ROWS_READ = 5
_CHECKS_TOOLS = "tool-schema"  #: the grader of calls


class TraceWithTools(NamedTuple):
    """What is proposed for a column of messages beside one of tool definitions."""

    value: Template | None  #: None if the columns do not make traces
    note: str = ""


def trace_with_tools(path: str, columns: Columns, rows: Sequence[Row]) -> TraceWithTools | None:
    """Return how to take tool definitions that stand beside the messages at a path; None if there are none."""
    tools = next((other for other in columns if _has_definitions(path, other, columns)), None)
    are_messages = any(map(is_conversation, map(json_within, columns.get(path, ()))))
    if tools is None or not are_messages or IS_BRACE.search(path + tools):
        return None
    forms = [Template(f'{{"{key}": {{{path}}}, "tools": {{{tools}}}}}') for key in _KEYS]
    for form in forms:
        if _are_traces(form, path, rows):
            return TraceWithTools(form)
    return TraceWithTools(
        None,
        f"trace: the tool definitions in {tools!r} are left out, because in some rows they or {path!r} are not JSON; write both"
        f" as JSON, [] for no tools, and map trace={forms[0]}",
    )


def further_messages_note(path: str, columns: Columns) -> str:
    """Return a note that a trace's messages go on in another column, as in `prompt` and `completion`; empty if they do not."""
    further = next(iter(_further_conversations(path, columns)), "")
    if not further:
        return ""
    first, second = sorted((path, further), key=list(columns).index)
    note = f"trace: the messages in {further!r} are left out"
    if IS_BRACE.search(first + second):
        return f"{note}; write both into one list"
    tools = next((other for other in columns if _has_definitions(path, other, columns)), "")
    offered = f', "tools": {{{tools}}}' if tools and not IS_BRACE.search(tools) else ""
    return f'{note}; both are taken by trace={{"prompt": {{{first}}}, "completion": {{{second}}}{offered}}}'


def agents_messages(path: str, columns: Columns, *, is_guessed: bool) -> str:
    """Return the conversations beside those at a path that have what the agent did, if these have only what it was asked.

    Those at a path that was guessed have so much if they end with a message of the user, whatever examples come before.
    """
    further = _further_conversations(path, columns)
    found = next((other for other in further if all(map(_has_agent, _present(other, columns)))), "")
    asked = _present(path, columns)
    is_asked = not any(map(_has_agent, asked))
    is_asked = is_asked or (is_guessed and all(map(_ends_with_user, asked)))
    return found if found and is_asked else path


def _further_conversations(path: str, columns: Columns) -> list[str]:
    """Return the paths of conversations beside those at a path, or with the same name elsewhere."""
    if not _has_conversations(path, columns):
        return []
    name = last_part(path)
    return [
        other
        for other in columns
        if other != path
        and (_is_beside(path, other) or (levels(other) > 0 and last_part(other) == name))
        and _has_conversations(other, columns)
    ]


def _present(path: str, columns: Columns) -> list[Any]:
    return [value for value in map(json_within, columns.get(path, ())) if value]


def _has_agent(messages: list[Any]) -> bool:
    return any(map(is_by_agent, messages))


def _ends_with_user(messages: list[Any]) -> bool:
    return messages[-1].get("role", messages[-1].get("from")) in HUMANS


def _has_conversations(path: str, columns: Columns) -> bool:
    values = _present(path, columns)
    return bool(values) and all(map(is_conversation, values))


def left_out_tools_note(
    value: Value | None, rows: Sequence[Row], graders: Sequence[GraderSpec]
) -> str:
    """Return a note that a mapping leaves out the tool definitions beside a trace's messages; empty if no grader would check them."""
    if not isinstance(value, Path) or not any(spec.grader == _CHECKS_TOOLS for spec in graders):
        return ""
    found = trace_with_tools(value.text, column_values(rows), rows)
    if found is None or found.value is None:
        return found.note if found else ""
    return (
        f"trace: the tool definitions beside {value.text!r} are left out; {_CHECKS_TOOLS} checks calls against them with"
        f" trace={found.value}"
    )


def _is_beside(path: str, other: str) -> bool:
    return around(path) == around(other)


def _has_definitions(path: str, other: str, columns: Columns) -> bool:
    """Return whether a column beside another one has definitions of tools, and nothing else."""
    if not _is_beside(path, other) or normal(Path(other).name) not in _TOOLS:
        return False
    present = [value for value in map(json_within, columns[other]) if value]
    return bool(present) and all(map(_are_definitions, present))


def _are_definitions(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_definition, value))


def _is_definition(tool: Any) -> bool:
    if not isinstance(tool, Mapping):
        return False
    function = tool.get("function", tool)
    return isinstance(function, Mapping) and isinstance(function.get("name"), str)


def _are_traces(form: Template, path: str, rows: Sequence[Row]) -> bool:
    """Return whether the texts are JSON in all rows and, in the first ones, the traces of the messages with their tools."""
    texts = [form.of(row, number) for number, row in enumerate(rows, 1)]
    if not all(isinstance(text, str) and _parsed(text) is not None for text in texts):
        return False
    first = list(zip(texts, rows, strict=True))[:_ROWS_READ]
    whole = [_trace(_parsed(text)) for text, _ in first]
    alone = [_trace(json_within(Path(path).of(row, 1))) for _, row in first]
    return list(map(_length, whole)) == list(map(_length, alone)) and any(map(_has_tools, whole))


def _length(trace: Trace | None) -> int:
    return len(trace.steps) if trace else 0


def _has_tools(trace: Trace | None) -> bool:
    return trace is not None and bool(trace.tools)


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _trace(value: Any) -> Trace | None:
    try:
        return read_trace(value)
    except WeighbridgeError:
        return None
