"""Events in the Agentic Trajectory Observability Format of NVIDIA's NeMo Agent Toolkit: scopes that start and end, and marks.

The payload of a scope is in the provider's form: the request at the start, and the answer at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.chat.provider_bodies import as_openai
from weighbridge.traces.fields import object_of, read_usage, string_of, time_of, word_of
from weighbridge.traces.importer import Importer, damaged
from weighbridge.traces.spans.messages import messages_in
from weighbridge.traces.spans.spans import Span
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace, Usage

_LOOKED_AT = 20  #: number of events by which the format is recognised
_SCOPE, _MARK = "scope", "mark"
_START = "start"
_UNKNOWN = "unknown"
#: Operations of the GenAI conventions by category; scopes of other categories are not a model's, a tool's or an agent's.
_OPERATIONS = {
    "llm": "chat",
    "tool": "execute_tool",
    "agent": "invoke_agent",
    "function": "workflow",  # a turn, or the attempts of one model call, with other scopes inside
}
_OTHER = "evaluator"
_USAGES = ("usage", "usageMetadata", "usage_metadata")
_SYSTEMS = ("system", "systemInstruction", "system_instruction", "instructions")
_RESULTS = ("result", "output")
#: Fields of a request with the model's input.
_REQUESTS = frozenset({"messages", "input", "contents"})
_DETAILS = frozenset({"prompt_tokens_details", "input_tokens_details", "input_token_details"})
_UNCLASSIFIED = "scopes of an unknown category may be tool calls"


@dataclass(slots=True)
class _Scope:
    """The two events of a scope; one of them may be absent."""

    #: Events by whether they are the start.
    events: dict[bool, dict[str, Any]] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """Return a field that both events have."""
        return next((event[name] for event in self.events.values() if event.get(name)), None)

    def described(self, name: str) -> Any:
        """Return a field of the category's profile, or else of the metadata, from the last event that has it."""
        for holder in ("category_profile", "metadata"):
            for starts in (False, True):
                found = object_of(self.events.get(starts, {}).get(holder)).get(name)
                if found:
                    return found
        return None

    def data(self, *, starts: bool) -> Any:
        """Return the payload of the start or of the end."""
        return self.events.get(starts, {}).get("data")

    def time(self, *, starts: bool) -> int | None:
        """Return when the scope started or ended."""
        recorded = self.events.get(starts, {}).get("timestamp")
        return time_of(recorded) if type(recorded) is str else time_of(recorded, "us")


def _matches(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_is_event, value[:_LOOKED_AT]))


def _is_event(value: Any) -> bool:
    return (
        type(value) is dict
        and value.get("kind") in (_SCOPE, _MARK)
        and type(value.get("atof_version")) is str
        and type(value.get("uuid")) is str
    )


def _parts(value: list[Any]) -> list[tuple[str | None, Any]]:
    """Return the events by outermost scope; marks outside all scopes are with the first."""
    roots = _roots(_scopes(value, {})) if all(map(_is_event, value)) else {}
    groups: dict[str, list[Any]] = {root: [] for root in roots.values()}
    if len(groups) < 2:
        return [(None, value)]
    first = next(iter(groups))
    for event in value:
        root = roots.get(event["uuid"]) or roots.get(word_of(event.get("parent_uuid")), first)
        groups[root].append(event)
    return list(groups.items())


def _read(value: list[Any]) -> list[Trace]:
    notes: dict[str, int] = {}
    scopes = _scopes(value, notes)
    if not scopes:
        raise damaged("none of the events is of a scope")
    roots = _roots(scopes)
    spans = [_span(uuid, scope, roots[uuid]) for uuid, scope in scopes.items()]
    unclassified = {
        roots[uuid] for uuid, scope in scopes.items() if scope.get("category") == _UNKNOWN
    }
    return [
        replace(trace, missing={**trace.missing, "tool_calls": _UNCLASSIFIED})
        if trace.id in unclassified
        else trace
        for trace in traces_of(spans, "atof", notes)
    ]


def _scopes(value: list[Any], notes: dict[str, int]) -> dict[str, _Scope]:
    """Return the scopes of events by ID; raise TraceError for an item that is not an event."""
    scopes: dict[str, _Scope] = {}
    for number, event in enumerate(value, 1):
        if not _is_event(event):
            raise damaged(f"event {number} has no kind, atof_version or uuid")
        if event["kind"] == _MARK:
            notes["marks"] = notes.get("marks", 0) + 1
            continue
        held = scopes.setdefault(event["uuid"], _Scope()).events
        if held.setdefault(event.get("scope_category") == _START, event) is not event:
            notes["repeated events"] = notes.get("repeated events", 0) + 1
    return scopes


def _roots(scopes: dict[str, _Scope]) -> dict[str, str]:
    """Return the ID of each scope's outermost scope, which may not be among the scopes."""
    roots: dict[str, str] = {}
    for start in scopes:
        path: dict[str, None] = {}
        uuid = start
        while uuid in scopes and uuid not in roots and uuid not in path:
            path[uuid] = None
            uuid = string_of(scopes[uuid].get("parent_uuid")) or uuid
        for passed in path:
            roots[passed] = roots.get(uuid, uuid)
    return roots


def _span(uuid: str, scope: _Scope, root: str) -> Span:
    category = word_of(scope.get("category"))
    sent, answered = scope.data(starts=True), scope.data(starts=False)
    name = string_of(scope.get("name")) or ""
    attributes: dict[str, Any] = {"gen_ai.operation.name": _OPERATIONS.get(category, _OTHER)}
    if category == "llm":
        attributes |= _of_model(object_of(sent), answered, scope)
    elif category == "tool":
        attributes |= {
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": scope.described("tool_call_id"),
            "gen_ai.tool.call.arguments": sent,
            "gen_ai.tool.call.result": _result(answered),
        }
    else:
        attributes |= {"input.value": _unwrapped(sent), "output.value": _unwrapped(answered)}
    if category == "agent":
        attributes["gen_ai.agent.name"] = name
    error = object_of(json_of(answered)).get("error")
    message = string_of(error) or string_of(object_of(error).get("message"))
    return Span(
        trace_id=root,
        id=uuid,
        parent_id=string_of(scope.get("parent_uuid")),
        name=name,
        started_at=scope.time(starts=True),
        ended_at=scope.time(starts=False),
        attributes={key: held for key, held in attributes.items() if held is not None},
        status="error" if message else "unset",
        status_message=message,
    )


def _of_model(sent: dict[str, Any], answered: Any, scope: _Scope) -> dict[str, Any]:
    inner = object_of(sent.get("content"))
    request = sent if _REQUESTS.isdisjoint(inner) else inner
    held, annotated = object_of(answered), object_of(scope.described("annotated_response"))
    usage = _usage(held, annotated)
    attributes = {
        "gen_ai.request.model": scope.described("model_name") or request.get("model"),
        "gen_ai.response.model": first_of(held, ("model", "modelVersion")),
        "gen_ai.input.messages": request.get("input") or request,
        "gen_ai.output.messages": _answer(answered, annotated),
        "gen_ai.system_instructions": first_of(request, _SYSTEMS),
        "gen_ai.tool.definitions": as_openai(request).get("tools"),
    }
    if usage is not None:
        attributes |= {
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.total_tokens": usage.total_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        }
    return attributes


def _answer(answered: Any, annotated: dict[str, Any]) -> Any:
    """Return the answer of a model; if the payload is not readable, the answer as the producer normalised it."""
    said = object_of(answered).get("assistant_message") or answered
    if any(message.text or message.calls for message in messages_in(said, "assistant")):
        return said
    message = {"content": annotated.get("message"), "tool_calls": annotated.get("tool_calls")}
    return message if annotated else said


def _usage(held: dict[str, Any], annotated: dict[str, Any]) -> Usage | None:
    """Return the tokens of an answer: those in the payload; the producer's own count adds what the payload lacks."""
    recorded = object_of(first_of(held, _USAGES))
    usage = read_usage(recorded)
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        recorded = {**object_of(annotated.get("usage")), **recorded}
    if _DETAILS.isdisjoint(recorded) and "cache_read_tokens" in recorded:
        cached, written = (recorded.get(f"cache_{name}_tokens") for name in ("read", "write"))
        details = {"cached_tokens": cached, "cache_creation_tokens": written}
        recorded = {**recorded, "prompt_tokens_details": details}
    return read_usage(recorded)


def _result(answered: Any) -> Any:
    """Return the result of a tool, taken out of an object that has nothing else."""
    is_wrapped = type(answered) is dict and len(answered) == 1
    return _unwrapped(answered) if is_wrapped and next(iter(answered)) in _RESULTS else answered


def _unwrapped(data: Any) -> Any:
    """Return the value in an object with a single field; any other value unchanged."""
    return next(iter(data.values())) if type(data) is dict and len(data) == 1 else data


IMPORTER = Importer(
    id="atof",
    name="ATOF events",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_event,
    fields=(
        ("id of the trace", "uuid of the outermost scope; of a step uuid of its scope"),
        ("parent_id", "parent_uuid; of a tool call, the model call that asked"),
        ("type", "category: llm, tool, agent; function is no step; all others are other"),
        ("name", "name; for a call without a scope, that in the model's answer"),
        ("arguments", "data of the start of a tool's scope"),
        (
            "output",
            "the text in data of the end, or in annotated_response of category_profile; of a tool call, its result or output",
        ),
        (
            "user and system steps",
            "messages, contents, input, system and instructions in data of the start",
        ),
        ("error", "data.error of the end"),
        ("model", "model or modelVersion in data of the end, or category_profile.model_name"),
        (
            "usage",
            "usage or usageMetadata in data of the end; what it lacks, usage of annotated_response",
        ),
        ("started_at, ended_at", "timestamp of the start and of the end"),
        ("tools", "tools in data of the start"),
    ),
    tried_on="the examples of the toolkit; events as NeMo Relay writes them for Hermes Agent by public tests",
    lacks="cost; marks; calls in scopes of an unknown category",
)
