"""Eval sets of Google's ADK, as files or evaluation results: each case is read as the session that it describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import id_of, object_of, objects_of
from weighbridge.traces.formats.google_adk import session_trace
from weighbridge.traces.importer import Importer, objects_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace

_CASES = ("eval_cases", "evalCases")
_RESULTS = ("eval_case_results", "evalCaseResults")
_CASE_IDS = ("eval_id", "evalId")
_USER_CONTENTS = ("user_content", "userContent")
_FINALS = ("final_response", "finalResponse")
_BETWEEN = ("intermediate_data", "intermediateData")
_USES, _RESPONSES = ("tool_uses", "toolUses"), ("tool_responses", "toolResponses")
_SAID_BETWEEN = ("intermediate_responses", "intermediateResponses")
_EVENTS = ("invocation_events", "invocationEvents")
_DETAILS = ("session_details", "sessionDetails")
_PER_INVOCATION = ("eval_metric_result_per_invocation", "evalMetricResultPerInvocation")
_ACTUAL = ("actual_invocation", "actualInvocation")
_OLD_CALLS, _OLD_ANSWERS = "expected_tool_use", "expected_intermediate_agent_responses"
_LOOKED_AT = 20  #: number of turns by which the format is recognised
_REASONS: dict[Capability, str] = {
    "token_usage": "eval sets of ADK carry no tokens",
    "timing": "eval sets of ADK tell when a turn began or was written down, not when it ended",
    "cost": "eval sets of ADK carry neither cost nor tokens",
    "tool_definitions": "eval sets of ADK do not keep the tools",
}


def _matches(value: Any) -> bool:
    if type(value) is list:
        return bool(value) and all(_is_old(each) for each in value[:_LOOKED_AT])
    if type(value) is not dict:
        return False
    if _is_case(value) or _is_result(value):
        return True
    cases, results = first_of(value, _CASES), first_of(value, _RESULTS)
    if type(cases) is list and cases:
        return all(type(each) is dict and _is_case(each) for each in cases[:_LOOKED_AT])
    return type(results) is list and bool(results) and all(map(_is_result, results[:_LOOKED_AT]))


def _is_case(value: dict[str, Any]) -> bool:
    turns = value.get("conversation")
    if type(turns) is not list or not turns or first_of(value, _CASE_IDS) is None:
        return False
    return all(type(turn) is dict and first_of(turn, _USER_CONTENTS) for turn in turns[:_LOOKED_AT])


def _is_result(value: Any) -> bool:
    """Return whether a value is the result of one case, with the session that was run or its turns."""
    if type(value) is not dict or first_of(value, _CASE_IDS) is None:
        return False
    return bool(_session_of(value)) or type(first_of(value, _PER_INVOCATION)) is list


def _is_old(value: Any) -> bool:
    """Return whether a value is a turn of an eval file before ADK 1.0, or a named case in such a file."""
    if type(value) is not dict:
        return False
    if type(value.get("data")) is list and type(value.get("name")) is str:
        return bool(value["data"]) and all(_is_old_turn(each) for each in value["data"])
    return _is_old_turn(value)


def _is_old_turn(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("query")) is str
        and type(value.get(_OLD_CALLS)) is list
    )


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    if type(value) is list:
        if not all("data" in each for each in objects_of(value)):
            return [(None, value)]
        return [(id_of(each.get("name")), [each]) for each in objects_of(value)]
    listed = first_of(value, _CASES) or first_of(value, _RESULTS)
    if listed is None:
        return [(None, value)]
    return [(id_of(first_of(each, _CASE_IDS)), each) for each in objects_of(listed)]


def _read(value: Any) -> list[Trace]:
    return [
        session_trace(_as_session(each), "google-adk-eval", _REASONS) for _, each in _parts(value)
    ]


def _as_session(case: Any) -> dict[str, Any]:
    """Return a case as a session: the session that was run, or else the events in its turns."""
    if type(case) is list:
        named = objects_of(case)[0] if "data" in object_of(case[0]) else {"data": case}
        turns = objects_in(named["data"], "turn")
        return {"id": named.get("name"), "events": [e for turn in turns for e in _old_events(turn)]}
    own_id = first_of(case, _CASE_IDS)
    ran = _session_of(case)
    if ran:
        return {**ran, "id": own_id}
    turns = objects_in(case.get("conversation"), "turn") or [
        object_of(first_of(each, _ACTUAL)) for each in objects_of(first_of(case, _PER_INVOCATION))
    ]
    recorded = object_of(first_of(case, ("session_input", "sessionInput")))
    events = [event for turn in turns for event in _events(turn)]
    return {
        "id": own_id,
        "events": events,
        "app_name": first_of(recorded, ("app_name", "appName")),
        "user_id": first_of(recorded, ("user_id", "userId")),
    }


def _session_of(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return the session in a result, if it has events."""
    session = object_of(first_of(result, _DETAILS))
    return session if objects_of(session.get("events")) else None


def _events(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a turn's events; if it has flat lists, calls come first, then results and agents' messages."""
    yield {"author": "user", "content": first_of(turn, _USER_CONTENTS)}
    between = object_of(first_of(turn, _BETWEEN))
    final = first_of(turn, _FINALS)
    for event in objects_in(first_of(between, _EVENTS), "event"):
        if final and event.get("content") == final:
            continue  # some versions repeat the final response here
        author = event.get("author")
        yield {
            "author": author if type(author) is str else "agent",
            "content": event.get("content"),
        }
    for key, names in (("function_call", _USES), ("function_response", _RESPONSES)):
        parts = [{key: each} for each in objects_in(first_of(between, names), key)]
        if parts:
            yield {"author": "agent", "content": {"parts": parts}}
    said = first_of(between, _SAID_BETWEEN)
    for each in said if type(said) is list else ():
        if type(each) is list and len(each) == 2 and type(each[0]) is str:
            yield {"author": each[0], "content": {"parts": each[1]}}
    if final:
        yield {"author": "agent", "content": final}


def _old_events(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a turn in the form before ADK 1.0: question, calls, intermediate texts, answer."""
    yield {"author": "user", "content": turn["query"]}
    calls = [
        {"function_call": {"name": use.get("tool_name"), "args": use.get("tool_input")}}
        for use in objects_in(turn.get(_OLD_CALLS), "call")
    ]
    if calls:
        yield {"author": "agent", "content": {"parts": calls}}
    for said in objects_of(turn.get(_OLD_ANSWERS)):
        author = said.get("author")
        text = said.get("text")
        yield {"author": author if type(author) is str else "agent", "content": text}
    if turn.get("reference"):
        yield {"author": "agent", "content": turn["reference"]}


IMPORTER = Importer(
    id="google-adk-eval",
    name="Google ADK eval sets",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "eval_id, or name; of a tool call, id of the tool use"),
        ("type", "user_content is user; final_response and each response between are llm"),
        ("name, arguments", "name and args of tool_uses, of calls in invocation_events"),
        ("output", "content.parts[].text; of a tool call, response in tool_responses"),
        ("all of a result", "session_details.events, or actual_invocation of each turn"),
    ),
    tried_on="real eval sets and eval files of ADK's samples, before and after version 1.0",
    lacks="tokens, times, cost and tool definitions; which of the calls one answer of the model asked for",
)
