"""Hints for a value that is in no known trace format: a misspelt key or role, a single message instead of the list, or another file of the tool."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, get_args

from weighbridge.text import closest, did_you_mean
from weighbridge.traces.chat.conversation import are_messages
from weighbridge.traces.chat.role_words import CHAT_KEYS, CONTENTS, ROLE_WORDS
from weighbridge.traces.fields import object_of
from weighbridge.traces.formats.otel import is_log_record
from weighbridge.traces.model import StepType

#: Beginning of an object that Python printed, such as `ModelRequest(parts=[`.
_PRINTED = re.compile(r"[A-Z][A-Za-z]{1,60}\([a-z_]{1,60}=")
_MESSAGE = frozenset({"role", "content", "from"})
_RUN = frozenset({"messages", "steps", "trajectory", "traj"})
#: Keys under which the known formats list what happened. Each has the keys of which the first item of its list has one.
_HOLDERS = {
    "messages": _MESSAGE,
    "conversation": _MESSAGE,
    "conversations": _MESSAGE,
    "history": _MESSAGE,
    "steps": frozenset({"type", "source", "action"}),
    "trajectory": frozenset({"action", "observation", "role"}),
    "simulations": _RUN,
    "traces": _RUN,
    "records": _RUN,
    "resourceSpans": frozenset({"scopeSpans"}),
    "choices": frozenset({"message"}),
    "output": frozenset({"type"}),
    "items": frozenset({"type"}),
}
_STRANDS_SESSION = (
    "this describes a session of Strands: what was said is in the folder `messages` of each agent"
)
#: Advice on files that lie beside traces, by all keys of an object in them: it says where the traces are.
_BESIDE_TRACES: dict[frozenset[str], str] = {
    frozenset({"custom_id", "method", "url", "body"}): (
        "this is a request to a batch API: what was answered is in the batch's file of results"
    ),
    frozenset({"custom_id", "params"}): (
        "this is a request to a batch API: what was answered is in the batch's file of results"
    ),
    frozenset({"session_id", "ts", "text"}): (
        "this is Codex's history of prompts: the sessions are in the folder `sessions` beside it"
    ),
    frozenset({"sessionId", "messageId", "timestamp", "type", "message"}): (
        "this is Gemini CLI's list of prompts: the sessions are in the folder `chats` beside it"
    ),
    frozenset({"display", "pastedContents", "timestamp", "project"}): (
        "this is Claude Code's history of prompts: the sessions are in the folder `projects` beside it"
    ),
    frozenset({"NodeName", "line_number", "run_info", "start_time", "end_time", "status"}): (
        "this is a node's run in a batch run of PromptFlow: the flow's runs, with the calls of all nodes, are in the "
        "folder `flow_artifacts` beside its own"
    ),
    frozenset({"session_id", "session_type", "created_at", "updated_at"}): _STRANDS_SESSION,
    frozenset(
        {
            *("agent_id", "state", "conversation_manager_state", "_internal_state"),
            *("created_at", "updated_at"),
        }
    ): _STRANDS_SESSION,
}
#: Advice on other files that lie beside traces, by some keys of an object in them.
_WITHOUT_STEPS: dict[frozenset[str], str] = {
    frozenset({"run_type", "dotted_order", "inputs", "trace_id"}): (
        "this is a run of LangSmith without those it started, such as a `RunTree` dumps itself: give all runs of the "
        "trace, in a list"
    ),
    frozenset({"state", "is_running", "workers"}): (
        "this is a context of LlamaIndex's workflows without an agent's memory, which LlamaIndex leaves out with a warning "
        "where it cannot serialise it, as with Pydantic 2.14: save the messages of `memory.get_all()`"
    ),
    frozenset({"class_name", "session_id", "token_flush_size"}): (
        "this is a memory of LlamaIndex without its messages, which are in a database: save those of `memory.get_all()`"
    ),
    frozenset({"response", "current_agent_name", "tool_calls"}): (
        "this is the last output of a LlamaIndex agent: its calls are in the events of `stream_events()`, or in its memory"
    ),
    frozenset({"type", "message", "stop_reason"}): (
        "this is the last answer of a Strands agent: its run is in `agent.messages`, in a snapshot, or, with times, "
        "in `result.metrics.get_summary()`"
    ),
    frozenset(
        {
            "tool_selection_score",
            "planning_effectiveness_and_efficiency_score",
            "avg_tool_calls_per_task",
        }
    ): (
        "these are MCP-Bench's average scores, which have no calls: the results of `execute_single_task_with_model` have "
        "those of each task"
    ),
    frozenset({"n_total_trials", "stats"}): (
        "this is the summary of a job of Harbor: each folder beside it has a trial, with its result.json and agent/trajectory.json"
    ),
    frozenset({"trial_name", "trials_dir", "task", "agent"}): (
        "this is the configuration of a trial of Harbor: the trial is in result.json and agent/trajectory.json beside it"
    ),
    frozenset({"results", "pass_at_k", "n_resolved", "n_unresolved"}): (
        "these are the results of a run of Terminal-Bench 1, which have no steps: what an agent logged is in the folder "
        "`agent-logs` of each trial beside it, such as the `debug.json` of Terminus"
    ),
    frozenset({"trial_name", "task_id", "is_resolved", "recording_path"}): (
        "this is the result of a trial of Terminal-Bench 1, which has no steps: what its agent logged is in the folder "
        "`agent-logs` beside it, such as the `debug.json` of Terminus"
    ),
    frozenset({"ts", "jobId", "action"}): (
        "this is OpenClaw's log of a scheduled job: each run is in the session that `sessionId` names, "
        "a `.jsonl` in the folder `sessions` of the agent"
    ),
}
_CONTINUE_STEPS = (
    "this is a session of Continue as its versions of 2023 kept it, with steps under "
    "`history.timeline`, which are not read"
)
#: Columns of Logfire's spans.
_SPAN_COLUMNS = ("trace_id", "span_id", "parent_span_id", "span_name")
_PROMPTFOO_ROW = frozenset({"vars", "testCase", "promptIdx", "testIdx"})
#: Keys of a result of version 2.
_OLD_PROMPTFOO_ROW = frozenset({"provider", "prompt", "vars", "success"})
_OLD_PROMPTFOO = (
    "these are results of promptfoo, an output each and no traces: grade the answers with "
    "--map custom_id=@row,agent_response=response.output,expected_output=vars.NAME"
)
_THREAD_STATE = frozenset({"values", "next", "checkpoint"})
_NEWER_KEYS = frozenset({"sessionId"})  #: keys that newer versions of these files have in addition
_KINDS = {list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
_LOOKED_AT = 20  #: number of an object's keys, or of a list's items, that are examined
_NAME_CHARACTERS = 40
_NAMES_SHOWN = 3
_SPOKEN = CONTENTS | {"text", "message", "utterance"}  #: fields with what a message says
#: Fields of a list's items: the noun for an item that has the field, and the field's known values.
_WORDS: dict[str, tuple[str, frozenset[str]]] = {
    "role": ("message", ROLE_WORDS),
    "type": ("step", frozenset(get_args(StepType))),
}


def correction_for(value: Any) -> str:
    """Return a hint on how to correct a value in no known format; empty if no correction is known."""
    if type(value) is list:
        if value and type(value[0]) is str and _PRINTED.match(value[0]):
            return "these are objects as Python prints them: save them as JSON, such as Pydantic AI's by `all_messages_json()`"
        first = value[0] if value and type(value[0]) is dict else {}
        beside = _without_steps(first)
        return beside or _of_messages(value)
    if type(value) is not dict:
        return ""
    if beside := _without_steps(value):
        return beside
    if type(value.get("role")) is str and not CONTENTS.isdisjoint(value):
        return (
            "this is a single message of a chat, and a trace is the whole list: "
            "write the list on one line, or the file as one JSON document"
        )
    chats = (value[key] for key in sorted(CHAT_KEYS.intersection(value)) if value[key])
    listed = value.get("messages") or value.get("conversations") or next(chats, None)
    # The steps of several runs are not one trace.
    steps = None if "runs" in value else value.get("steps")
    return (
        (_of_messages(listed) if type(listed) is list else "")
        or (_misspelt_word(steps, "type") if type(steps) is list else "")
        or _misspelt_key(value)
    )


def _without_steps(value: dict[str, Any]) -> str:
    """Return why an object of a known tool is not a trace, with advice; empty for any other object."""
    return (
        _beside_traces(value)
        or _old_session(value)
        or _log_record(value)
        or _bare_row(value)
        or _promptfoo(value)
        or _thread_state(value)
    )


def _beside_traces(value: dict[str, Any]) -> str:
    """Return advice on an object that tools write beside their traces; empty for any other object."""
    for keys, advice in _BESIDE_TRACES.items():
        if keys <= value.keys() <= keys | _NEWER_KEYS:
            return advice
    return next((advice for keys, advice in _WITHOUT_STEPS.items() if keys <= value.keys()), "")


def _old_session(value: dict[str, Any]) -> str:
    """Return a sentence on a session of Continue of 2023; empty for any other object."""
    history = object_of(value.get("history"))
    has_steps = type(history.get("timeline")) is list and "current_index" in history
    is_old = has_steps and not {"session_info", "user_input_queue"}.isdisjoint(value)
    return _CONTINUE_STEPS if is_old else ""


def _log_record(value: dict[str, Any]) -> str:
    """Return a sentence on OpenTelemetry's log records without spans, also in rows of CloudWatch; empty for other objects."""
    held = value.get("raw_otel_json")
    if not is_log_record(held if type(held) is dict else value):
        return ""
    return (
        "these are log records of OpenTelemetry, which have messages alone: "
        "give them with the spans that they name, in one list or file"
    )


def _bare_row(value: dict[str, Any]) -> str:
    """Return a sentence on the columns that a row of a Logfire query lacks to be a span; empty for any other object."""
    if type(value.get("attributes")) not in {dict, str} or "start_timestamp" not in value:
        return ""
    lacking = [name for name in _SPAN_COLUMNS if name not in value]
    return f"these may be rows of Logfire: add to the query {', '.join(lacking)}" if lacking else ""


def _promptfoo(value: dict[str, Any]) -> str:
    """Return a sentence on how results of promptfoo are graded; empty for any other object."""
    listed = object_of(value.get("results")).get("results")
    first = listed[0] if type(listed) is list and listed else None
    if type(first) is not dict:
        return ""
    if not first.keys() >= _PROMPTFOO_ROW:
        return _OLD_PROMPTFOO if first.keys() >= _OLD_PROMPTFOO_ROW else ""
    return (
        "these are results of promptfoo, an output each and no traces: graders of answers read the file as it is, "
        "such as `weighbridge run FILE -g string-match`"
    )


def _thread_state(value: dict[str, Any]) -> str:
    """Return a sentence on the state of a LangGraph thread that lacks messages; empty for any other object."""
    values = value.get("values")
    if type(values) is not dict or not value.keys() >= _THREAD_STATE:
        return ""
    names = [name[:_NAME_CHARACTERS] for name in islice(values, _NAMES_SHOWN) if type(name) is str]
    return (
        f"this is the state of a LangGraph thread without messages in its values ({', '.join(names)}): "
        "the traces of its runs, such as LangSmith's, have what its models and tools did"
    )


def lies_beside_traces(value: Any) -> bool:
    """Return whether a JSON value is an object that tools write beside their traces, such as a prompt or a request."""
    return type(value) is dict and bool(_beside_traces(value))


def _of_messages(listed: list[Any]) -> str:
    return _misspelt_word(listed, "role") or _no_message(listed) or _unsaid(listed)


def _no_message(listed: list[Any]) -> str:
    """Return a sentence on the first item that is not a message, in a list that begins with one; empty if there is none."""
    first = object_of(listed[0] if listed else None)
    if type(first.get("role")) is not str or CONTENTS.isdisjoint(first):
        return ""
    for number, item in enumerate(islice(listed, _LOOKED_AT), 1):
        if type(item) is not dict:
            kind = _KINDS.get(type(item), "a number")
            return f"message {number} is {kind}, not an object with a role"
        if type(item.get("role")) is not str:
            return f"message {number} has no role"
    return ""


def _unsaid(listed: list[Any]) -> str:
    """Return a sentence on messages with a known role that have neither content nor calls; empty if there are none."""
    if not are_messages(listed) or any("content" in message for message in listed[:_LOOKED_AT]):
        return ""
    names = [name for name in islice(listed[0], _LOOKED_AT) if type(name) is str]
    shown = ", ".join(name[:_NAME_CHARACTERS] for name in names)
    return (
        f"none of the messages has content or tool calls where they are read; the first has {shown}"
    )


def _misspelt_word(listed: list[Any], field: str) -> str:
    noun, known = _WORDS[field]
    for number, item in enumerate(islice(listed, _LOOKED_AT), 1):
        word = item.get(field) if type(item) is dict else None
        if type(word) is str and word not in known:
            guess = closest(word.lower(), sorted(known))
            if not guess and field == "role" and len(item) > 1 and _SPOKEN.isdisjoint(item):
                return ""  # a record of another kind
            instead = did_you_mean(guess) or f"; known: {', '.join(sorted(known))}"
            return f"{noun} {number} has the {field} {word[:_NAME_CHARACTERS]!r}{instead}"
    return ""


def _misspelt_key(value: dict[str, Any]) -> str:
    for key, item in islice(value.items(), _LOOKED_AT):
        if type(item) is list and item and type(key) is str and key not in _HOLDERS:
            guess = closest(key, list(_HOLDERS))
            if guess and guess not in value and _fits(item[0], guess):
                return f"found {key[:_NAME_CHARACTERS]!r}{did_you_mean(guess)}"
    return ""


def _fits(item: Any, holder: str) -> bool:
    """Return whether an item has the shape expected in a list of that name, since the name alone proves nothing."""
    return type(item) is dict and not _HOLDERS[holder].isdisjoint(item)
