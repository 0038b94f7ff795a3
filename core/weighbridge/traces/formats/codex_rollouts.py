"""Codex's rollouts: the lines of a session, with items of the Responses API, events and token counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.stated_failures import mcp_failure
from weighbridge.traces.fields import object_of, read_usage, string_of, time_of, usage_less, word_of
from weighbridge.traces.formats.codex_forks import copied_lines
from weighbridge.traces.formats.codex_results import (
    RESULTS,
    ended_command,
    has_failed,
    opening_of,
    own_tool_of,
)
from weighbridge.traces.model import Counts
from weighbridge.traces.unread_counts import (
    OTHER_AGENTS,
    SCRIPTS,
    with_times_of_steps,
    with_unread_summaries,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.chat.conversation import Run
    from weighbridge.traces.chat.response_items import Items
    from weighbridge.traces.model import Capability, Trace, Usage

#: Events of the end of a call, and the statuses in them of calls that failed or that the user refused.
_CALL_ENDS = frozenset({"exec_command_end", "patch_apply_end", "mcp_tool_call_end"})
_FAILED = frozenset({"failed", "declined"})
_SCRIPT_CALL_PREFIX = "exec-"  #: prefix of the IDs of calls that scripts in code mode make
_END_SUFFIX = "_end"  #: suffix of the types of events of a call's end
#: Names of tools, by event.
_TOOL_NAMES = {"exec_command": "exec_command", "patch_apply": "apply_patch"}
_OUTPUTS = ("aggregated_output", "formatted_output", "stdout", "stderr")
_ARGUMENTS = ("command", "changes", "query")
#: The tool that runs scripts; the object with the tools in a script.
_SCRIPT, _CALLS_IN_SCRIPT = "exec", "tools"
#: Fields beside the output of a command; the times of the lines say how long it took.
_METADATA = frozenset({"exit_code", "duration_seconds"})
_SPAWNED = '{"agent_id":'  #: prefix of the result of a call that started another agent
_TOTALS, _COUNTS = "the last total_token_usage", "token_count"
_OF_COPIES = f"{_TOTALS} less that of the copied lines"
_ONLY_COUNTS = "the session holds only the counts of its tokens, and no items"
_OF_REVIEWS = "the session does not hold the calls that a review made"


def is_line(line: dict[str, Any]) -> bool:
    """Return whether an object is a line with an item, or with a token count."""
    return (line.get("type") == "response_item" and type(line.get("payload")) is dict) or _is_count(
        line
    )


def _is_count(line: dict[str, Any]) -> bool:
    payload = object_of(line.get("payload")) if line.get("type") == "event_msg" else {}
    usage = object_of(payload.get("info")).get("total_token_usage")
    return payload.get("type") == "token_count" and type(usage) is dict


def is_session_data(value: Any) -> bool:
    """Return whether a value is the data of a session, the first line of a rollout until September 2025; the others are items."""
    return (
        type(value) is dict
        and value.keys() >= {"id", "timestamp"}
        and value.keys().isdisjoint({"type", "role", "input", "output", "payload"})
    )


def _is_state(item: Any) -> bool:
    """Return whether a line of a rollout until September 2025 precedes the items of a response, or those of a user."""
    return type(item) is dict and item.get("record_type") == "state"


def _by_response(items: Sequence[Any]) -> list[Any]:
    """Return the items of a rollout until September 2025 with each response's results after its other items.

    Codex wrote a response's items in the order in which they ended, each call with its result, and a line before them.
    """
    ordered: list[Any] = []
    results: list[Any] = []
    for item in items:
        if _is_state(item) or word_of(object_of(item).get("role")) not in {"", "assistant"}:
            ordered += results
            results = []
        (results if word_of(object_of(item).get("type")) in RESULTS else ordered).append(item)
    return ordered + results


class Rollout:
    """Reader of a session's lines; it adds their items to those of a run."""

    def __init__(self, items: Items, run: Run) -> None:
        #: By the id of each call that failed, the exit code if Codex states it apart from the output, or else "".
        self.failed: dict[str, str] = {}
        self._items = items
        self._run = run
        self._counts = 0  #: number of token counts that exceed the count before
        #: Times of the counts that belong to no recorded answer, or to a review's.
        self._unread: list[int | None] = []
        self._own_calls: dict[str, str] = {}  #: names of Codex's own tools, by call ID
        self._has_agents = False  #: whether the agent started other agents
        self._has_scripts = False  #: whether a script may have made calls
        self._reviews: list[Usage | None] = []  #: totals before each unfinished review
        self._review_calls = 0  #: number of model calls in the unfinished review
        self._has_review_tools = False
        self._pending: Usage | None = None  #: usage of a review's answer that may still follow
        self._is_compacted = False  #: whether no count has come since the context was summed up
        self._summaries = 0  #: number of summaries after which the total was that of before
        self._copies = 0  #: number of the next lines that are copies from another session
        self._total_of_copies: Usage | None = None

    def begin(self, lines: Sequence[dict[str, Any]]) -> None:
        """Find the lines of a session that are copies from another session; called with all lines before `read`."""
        copies, notes = copied_lines(lines), self._items.notes
        if copies is None:
            notes.add(
                "which lines are copied from the session that this one was forked from: all of them count",
                len(lines),
            )
        elif copies:
            self._copies = copies
            notes.add("lines copied from the session that this one was forked from", copies)

    def read(self, line: dict[str, Any]) -> None:
        """Add a line."""
        payload, kind = object_of(line.get("payload")), line.get("type")
        if self._copies:
            self._copies -= 1
            self._pass_over(payload, kind)
            return
        event = word_of(payload.get("type")) if kind == "event_msg" else ""
        if kind == "response_item":
            self._item(payload, time_of(line.get("timestamp")))
        elif kind == "session_meta":
            self._run.id = self._run.id or string_of(payload.get("id"))
        elif kind == "turn_context":
            self._items.model = string_of(payload.get("model")) or self._items.model
        elif event == "token_count":
            self._count(object_of(payload.get("info")), time_of(line.get("timestamp")))
        elif event.endswith(_END_SUFFIX) and self._is_of_script(payload):
            self._has_scripts = True
            self._items.add_made_call(*_made_call(event, payload), time_of(line.get("timestamp")))
            self._note_end(payload, is_failure=_ended_badly(payload))
        elif event in _CALL_ENDS:
            self._note_end(payload, is_failure=_ended_badly(payload))
        elif event == "entered_review_mode":
            self._reviews.append(self._run.usage)
            self._run.usage, self._review_calls = None, 0
        elif event == "exited_review_mode" and self._reviews:
            self._run.usage = self._reviews.pop()
        elif event == "collab_agent_spawn_end":
            self._has_agents = self._has_agents or bool(payload.get("new_thread_id"))
        elif kind != "event_msg":  # events repeat the items
            self._is_compacted = self._is_compacted or kind == "compacted"
            self._items.notes.add_kind("lines", kind)

    def read_items(self, items: Sequence[Any], session_data: dict[str, Any]) -> None:
        """Add the items of a session until September 2025, and its data."""
        self._run.id = self._run.id or string_of(session_data.get("id"))
        for item in _by_response(items) if any(map(_is_state, items)) else items:
            if _is_state(item):
                self._items.close()
            elif type(item) is dict:
                self._item(item, None)
            else:
                self._items.add(item)

    def _pass_over(self, payload: dict[str, Any], kind: Any) -> None:
        """Read the session's data in a copied line: the ID, and the total at which the session's own total begins."""
        if kind == "session_meta":
            self._run.id = self._run.id or string_of(payload.get("id"))
        elif payload.get("type") == "token_count":
            total = usage_in(object_of(payload.get("info")).get("total_token_usage"))
            self._run.usage = self._total_of_copies = total or self._total_of_copies

    def _is_of_script(self, end: dict[str, Any]) -> bool:
        """Return whether the event of a call's end is of a new call that a script made."""
        call_id = string_of(end.get("call_id")) or ""
        return call_id.startswith(_SCRIPT_CALL_PREFIX) and not self._items.has_call(call_id)

    def _item(self, item: dict[str, Any], time: int | None) -> None:
        call_id = string_of(item.get("call_id")) or ""
        ended = ended_command(item.get("output")) if word_of(item.get("type")) in RESULTS else None
        if ended:
            item = {**item, "output": ended.output}
            self._items.notes.add_fields(ended.metadata, _METADATA, "metadata")
        self._items.add(item, time)
        if call_id and (name := own_tool_of(item)):
            self._own_calls[call_id] = name
        if item.get("name") == _SCRIPT and item.get("type") == "custom_tool_call":
            script = string_of(item.get("input")) or ""
            self._has_scripts = self._has_scripts or _CALLS_IN_SCRIPT in script
        if ended:
            if call_id and ended.exit_code != 0:
                self.failed[call_id] = f"exit code {ended.exit_code}"
        elif word_of(item.get("type")) in RESULTS:
            output = opening_of(item.get("output"))
            is_failure = has_failed(output, self._own_calls.get(call_id, ""))
            self._note_end(item, is_failure=is_failure)
            self._has_agents = self._has_agents or output.startswith(_SPAWNED)
        elif self._pending and not self._reviews and item.get("role") == "assistant":
            self._items.set_usage(self._pending)
            self._pending = None

    def _note_end(self, call: dict[str, Any], *, is_failure: bool) -> None:
        call_id = string_of(call.get("call_id"))
        if call_id and is_failure:
            self.failed.setdefault(call_id, "")

    def _count(self, info: dict[str, Any], time: int | None) -> None:
        """Add a token count; if its total is that of the count before, there is no further answer."""
        total = usage_in(info.get("total_token_usage"))
        is_known = total is not None and total == self._run.usage
        self._summaries += self._is_compacted and is_known
        self._is_compacted = False
        if is_known:
            self._items.close()
            return
        last = usage_in(info.get("last_token_usage"))
        self._flush()
        if self._reviews:
            self._review_calls += 1
            self._has_review_tools = self._has_review_tools or self._review_calls > 1
            self._pending = last
            self._unread.append(time)
        elif not self._items.set_usage(last):
            self._unread.append(time)
        if total:
            self._counts += bool(total.total)
            self._run.usage, self._run.totals_from = total, _TOTALS

    def _flush(self) -> None:
        """Add the last answer of a review with its tokens, if the session does not have the answer."""
        if self._pending:
            self._items.add_unrecorded(self._pending)
            self._pending = None

    def close(self) -> None:
        """End the session."""
        self._flush()
        if self._reviews:
            self._run.usage = self._reviews[0]
        if self._total_of_copies:
            self._run.usage = usage_less(self._run.usage, self._total_of_copies)
            self._run.totals_from = _OF_COPIES if self._run.usage else ""

    def about(self, trace: Trace) -> Trace:
        """Return a trace of the session with the session's stated counts, and with what it lacks."""
        if self._counts > len(trace.steps_of("llm")) and not self._has_agents:
            # An answer that was interrupted has a count of its tokens, and no items.
            counts = Counts(llm_calls=self._counts)
            trace = replace(trace, counts=counts, totals_from=_COUNTS)
            if not self._has_review_tools:
                trace = with_times_of_steps(trace, self._unread)
        if trace.usage and _is_cut_off(trace):
            trace = replace(trace, usage=None, totals_from="")
        lacking: dict[Capability, str] = {}
        if self._has_scripts:
            lacking["tool_calls"] = SCRIPTS
        if self._has_review_tools:
            lacking["tool_calls"] = _OF_REVIEWS
        if self._counts and not trace.steps:
            lacking |= {"tool_calls": _ONLY_COUNTS, "cost": _ONLY_COUNTS}
        if self._has_agents:
            lacking |= {
                "llm_calls": OTHER_AGENTS,
                "tool_calls": OTHER_AGENTS,
                "token_usage": OTHER_AGENTS,
                "cost": OTHER_AGENTS,
            }
        if lacking:
            trace = replace(trace, missing={**trace.missing, **lacking})
        return with_unread_summaries(trace, self._summaries, in_totals=False)


def _made_call(event: str, end: dict[str, Any]) -> tuple[Call, Any]:
    """Return the call that a script made, and its result, from the event of its end."""
    kind = event.removesuffix(_END_SUFFIX)
    invocation = object_of(end.get("invocation"))  # the call of an MCP server's tool
    name = string_of(invocation.get("tool")) or _TOOL_NAMES.get(kind, kind)
    arguments = invocation.get("arguments")
    if not invocation:
        arguments = {held: end[held] for held in _ARGUMENTS if end.get(held) is not None}
    result = object_of(end.get("result"))
    shown = [text for field in _OUTPUTS if (text := string_of(end.get(field)))]
    # The first two fields repeat the text of the others.
    is_joined = any(string_of(end.get(field)) for field in _OUTPUTS[:2])
    output = shown[0] if is_joined else "\n".join(shown) or None
    answer = object_of(result.get("Ok")).get("content", result.get("Err"))
    return Call(string_of(end.get("call_id")), name, arguments), output or answer


def _ended_badly(end: dict[str, Any]) -> bool:
    """Return whether the event of a call's end says that it failed or was refused."""
    result = object_of(end.get("result"))  # the result of an MCP server, as Rust serialises it
    answer = object_of(result.get("Ok"))
    return (
        word_of(end.get("status")) in _FAILED
        or end.get("success") is False
        or (type(end.get("exit_code")) is int and end["exit_code"] != 0)
        or "Err" in result
        or bool(mcp_failure(answer))
    )


def _is_cut_off(trace: Trace) -> bool:
    """Return whether a session ends before the tokens of its last answer are recorded; its total lacks them, too."""
    usages = [step.usage for step in trace.steps_of("llm")]
    known = sum((usage.total or 0) for usage in usages if usage)
    total = trace.usage.total if trace.usage else None
    return bool(known) and not usages[-1] and total == known


def usage_in(value: Any) -> Usage | None:
    """Return the tokens of a count in Codex's form."""
    recorded = object_of(value)
    cached = {"cached_tokens": recorded.get("cached_input_tokens")}
    return read_usage({**recorded, "input_tokens_details": cached})
