"""One document, several traces: lists of traces, and exports whose spans belong to different runs."""

from __future__ import annotations

from typing import Any

from weighbridge.errors import TraceError
from weighbridge.traces.chat.conversation import are_messages
from weighbridge.traces.chat.role_words import CONTENTS
from weighbridge.traces.fields import json_in
from weighbridge.traces.formats.claude_code_lines import are_of_sub_agent
from weighbridge.traces.formats.otel import export_of_resource, is_of_agent
from weighbridge.traces.known_formats import FORMATS, formats
from weighbridge.traces.read import read_trace
from weighbridge.traces.recognition import recognised
from weighbridge.traces.traces_by_id import chats_by_session, traces_by_id

_LISTS = ("simulations", "traces", "trajectories", "records", "results")  #: keys of lists of traces
_SPANS = (
    ("resourceSpans", "scopeSpans", "spans"),
    ("resource_spans", "scope_spans", "spans"),
    ("batches", "scopeSpans", "spans"),
    ("batches", "instrumentationLibrarySpans", "spans"),
    ("resourceSpans", "instrumentationLibrarySpans", "spans"),
    ("resourceLogs", "scopeLogs", "logRecords"),
    ("resource_logs", "scope_logs", "log_records"),
)
_CODEX_LINES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
)
#: First lines of sessions (of Codex, Copilot and VS Code's journals): a key, its value, and the key of the session's data.
_HEADS = (("type", "session_meta", "payload"), ("type", "session.start", "data"), ("kind", 0, "v"))
#: Keys of the first line of a session before late 2025.
_OLD_CODEX_HEAD = frozenset({"id", "timestamp", "instructions"})
_CLAUDE_CODE_LINES = frozenset({"summary", "file-history-snapshot", "queue-operation"})
_OTLP = frozenset(key for key, _, _ in _SPANS)


def is_trace(value: Any) -> bool:
    """Return whether a JSON value has the shape of one or several traces in a known format."""
    return recognised(value) is not None


def spans_lines(value: Any) -> bool:
    """Return whether a value is one or a list of OTLP exports, whose runs may be split across lines."""
    if type(value) is list:
        return bool(value) and all(map(_is_otlp, value))
    return _is_otlp(value)


def opens_session(value: Any) -> bool:
    """Return whether a value is a line of an agent's session file, or a message of a chat: all lines are one run then."""
    if any(importer.is_line is not None and importer.is_line(value) for importer in formats()):
        return True
    if type(value) is not dict:
        return False
    if not CONTENTS.isdisjoint(value) and are_messages([value]):
        return not is_trace(value)
    if _OLD_CODEX_HEAD <= value.keys() <= _OLD_CODEX_HEAD | {"git"}:
        return True
    if type(value.get("type")) is not str or is_trace(value):
        return False
    if type(value.get("payload")) is dict:
        return value["type"] in _CODEX_LINES
    return session_id([value]) is not None or value["type"] in _CLAUDE_CODE_LINES


def session_id(lines: list[Any]) -> str | None:
    """Return the ID of the session that lines belong to, from the first line that has it; None if no line has it.

    If all lines are those of one sub-agent, the sub-agent's ID follows: `session/agent`.
    """
    for line in _dicts(lines):
        recorded = line.get("thread_id")
        for key, word, holder in _HEADS:
            opens = line.get(key) == word and type(line[key]) is type(word)
            held = line.get(holder) if opens else None
            if type(held) is dict:
                recorded = held.get("sessionId", held.get("id"))
        is_head = line.get("type") == "session" or line.keys() >= _OLD_CODEX_HEAD
        recorded = line.get("id") if is_head else recorded
        found = _text(line.get("sessionId", line.get("session_id", recorded)))
        if found:
            agent = _text(line.get("agentId")) if are_of_sub_agent(lines) else None
            return f"{found}/{agent}" if agent else found
    return None


def id_by_plug_in(raw: bytes) -> str | None:
    """Return the id of the one trace in a JSON text whose format is that of a plug-in; None for any other text."""
    if len(formats()) == len(FORMATS):
        return None
    try:
        value = json_in(raw)
        found = recognised(value)
        if found is None or any(found.importer is each for each in FORMATS):
            return None
        return read_trace(value).id
    except (ValueError, TraceError):
        return None  # grading the trace reports it


def single_traces(value: Any) -> list[tuple[str | None, Any]] | None:
    """Return the traces in a document, each as a JSON value of its own, and its ID if that stands outside the value.

    Return None if there are none.
    """
    if spans_lines(value):
        exports = value if type(value) is list else [value]
        return _by_trace_id([export_of_resource(export) or export for export in exports])
    found = recognised(value)
    if found is not None:
        if type(value) is list and found.importer.is_general:
            sessions = chats_by_session(value)
            if sessions is not None:
                return [*sessions]
        parts = found.importer.parts
        whole: list[tuple[str | None, Any]] = [(None, value)]
        return (parts(value) or whole) if parts and found.value is value else whole
    listed = value
    if type(value) is dict:
        listed = next((value[key] for key in _LISTS if type(value.get(key)) is list), None)
    if (
        type(listed) is list
        and listed
        and all(type(item) in {dict, list} for item in listed)
        and is_trace(listed[0])
    ):
        agent = _agent_of(value)
        if agent is not None:
            listed = [{"agent_info": agent, **item} for item in _dicts(listed)]
        return [(None, item) for item in listed]
    by_id = traces_by_id(value)
    return None if by_id is None else [*by_id]


def _agent_of(value: Any) -> dict[str, Any] | None:
    """Return the agent's data from a tau2 results file, which holds it once for all simulations."""
    info = value.get("info") if type(value) is dict and "simulations" in value else None
    agent = info.get("agent_info") if type(info) is dict else None
    return agent if type(agent) is dict else None


def _is_otlp(value: Any) -> bool:
    return type(value) is dict and (
        any(type(value.get(key)) is list for key in _OTLP) or export_of_resource(value) is not None
    )


def _by_trace_id(exports: list[dict[str, Any]]) -> list[tuple[str | None, Any]]:
    """Group spans and log records by trace ID; keep their resources and scopes with them.

    Traces without a span that may be an agent's step are added to the first trace that has one, which counts them.
    """
    traces: dict[str | None, dict[str, list[Any]]] = {}
    of_agents: set[str | None] = set()
    for export in exports:
        for resources, scopes, items in _SPANS:
            for resource in _dicts(export.get(resources)):
                for scope in _dicts(resource.get(scopes)):
                    groups: dict[str | None, list[Any]] = {}
                    for item in _dicts(scope.get(items)):
                        groups.setdefault(
                            _text(item.get("traceId", item.get("trace_id"))), []
                        ).append(item)
                    for trace_id, group in groups.items():
                        part = {**resource, scopes: [{**scope, items: group}]}
                        traces.setdefault(trace_id, {}).setdefault(resources, []).append(part)
                        if trace_id not in of_agents and any(map(is_of_agent, group)):
                            of_agents.add(trace_id)
    first = next(
        (trace_id for trace_id in traces if trace_id in of_agents), next(iter(traces), None)
    )
    for trace_id in [each for each in traces if each != first and each not in of_agents]:
        for resources, listed in traces.pop(trace_id).items():
            traces[first].setdefault(resources, []).extend(listed)
    return list(traces.items())


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if type(item) is dict] if type(value) is list else []


def _text(value: Any) -> str | None:
    return value if type(value) is str and value else None
