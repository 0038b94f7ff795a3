"""Conversion of chat messages to steps, shared by every format that holds a chat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.chat.call_parts import CALL_IDS, not_among, opened
from weighbridge.traces.chat.calls import (
    OTHER_SPELLINGS,
    apart,
    calls_of,
    own_calls,
    sorted_parts,
    with_parts,
)
from weighbridge.traces.chat.early_results import EarlyResults
from weighbridge.traces.chat.facts import NO_FACTS, Facts
from weighbridge.traces.chat.pending_calls import PendingCall, PendingCalls
from weighbridge.traces.chat.repeats import repeated
from weighbridge.traces.chat.roles import RESULT_ROLES, ROLES
from weighbridge.traces.fields import (
    Notes,
    StepIds,
    content_of,
    cost_of,
    finish_reason_of,
    missing_of,
    read_usage,
    string_of,
    time_of,
    tools_of,
)
from weighbridge.traces.importer import damaged
from weighbridge.traces.model import Capability, Counts, Step, StepType, Trace, Usage
from weighbridge.traces.text_actions import missing_calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge.traces.chat.call_parts import Call, Result

#: Role of the speaker of calls that no answer requested. It becomes no step; its calls do.
PROGRAM = "program"
_SYSTEM = frozenset({"system", "developer"})
_ROLES_LOOKED_AT = 20  #: number of messages by whose roles a list of messages is recognised
_PLAIN_FIELDS = frozenset(
    {"role", "content", "tool_calls", "tool_call_id", "name", "function_call"}
)
_CALL_KEYS = frozenset({"tool_calls", "function_call"})
_USAGE_FIELDS = _PLAIN_FIELDS | {"usage"}
MESSAGE_FIELDS = _PLAIN_FIELDS | {
    *("id", "type", "model", "usage", "cost", "timestamp", "created_at", "createdAt", "refusal"),
    *("finish_reason", "stop_reason"),
    *("error", "is_error", "requestor", "turn_idx", "toolName", "tool_name", *CALL_IDS),
}

#: Sources of the fields, for every format that holds chat messages.
CHAT_FIELDS = (
    ("id of a tool call", "tool_calls[].id"),
    ("type", "role: assistant is llm; each of its calls is tool; a user's own calls are other"),
    ("name, arguments", "tool_calls[].function, or tool_calls[] itself"),
    ("output", "content; of a tool call, the content of its tool message"),
)


@dataclass(slots=True)
class Run:
    """Data of a run in addition to its messages."""

    id: str | None = None
    tools: Any = None  #: list of tools in the form of any provider
    model: str | None = None  #: model of the messages that name none
    usage: Usage | None = None
    cost_usd: float | None = None
    counts: Counts | None = None
    totals_from: str = ""
    started_at: int | None = None
    ended_at: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    #: Metadata of messages, by index from 0.
    of_message: Mapping[int, Facts] = field(default_factory=dict)
    #: Metadata of calls, by index among all calls.
    of_call: Mapping[int, Facts] = field(default_factory=dict)
    #: Fields of messages that are carried; others are noted.
    fields: frozenset[str] = MESSAGE_FIELDS
    notes: Notes = field(default_factory=Notes)


def are_messages(value: Any) -> bool:
    """Return whether a value is a list of chat messages."""
    if type(value) is not list or not value:
        return False
    for message in value[:_ROLES_LOOKED_AT]:
        role = message.get("role") if type(message) is dict else None
        if type(role) is not str or role not in ROLES:
            return False
    return True


def ends_with(messages: Sequence[Any], answer: dict[str, Any]) -> bool:
    """Return whether the last message of a request is the answer, which is also stored separately."""
    last = messages[-1] if messages else None
    return type(last) is dict and all(
        (last.get(name) or None) == (answer.get(name) or None)
        for name in ("role", "content", "tool_calls")
    )


def are_messages_or_none(value: Any) -> bool:
    """Return whether a value is a list of chat messages, or the empty list of a run that ended early."""
    return (type(value) is list and not value) or are_messages(value)


def read_messages(
    messages: Sequence[Any], format_id: str, run: Run, reasons: Mapping[Capability, str]
) -> Trace:
    """Return chat messages as a trace: a step for each message, and for each tool call with its result.

    `reasons`: for each capability, why this format lacks it; used for those that the messages and the run lack.
    """
    steps = tuple(_MessageReader(run).read(messages))
    tools = tools_of(run.tools)
    return Trace(
        id=run.id,
        steps=steps,
        format=format_id,
        tools=tools,
        metadata=run.metadata,
        usage=run.usage,
        cost_usd=run.cost_usd,
        counts=run.counts,
        totals_from=run.totals_from,
        started_at=run.started_at,
        ended_at=run.ended_at,
        missing={
            **missing_calls(steps, run.notes, has_totals=run.usage is not None),
            **missing_of(
                steps,
                reasons,
                tools=tools,
                usage=run.usage,
                cost_usd=run.cost_usd,
                started_at=run.started_at,
            ),
        },
        not_carried=run.notes.summaries(),
    )


#: In the place of a call's step until the results are read.
_NOT_READ = Step(id="", type="tool")


class _MessageReader:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._carries_usage = run.fields.issuperset(_USAGE_FIELDS)
        self._ids = StepIds()
        self._steps: list[Step] = []
        self._calls = PendingCalls()
        self._number = 0  #: number of calls read in the messages
        self._at = 0  #: index of the message that is read
        self._early = EarlyResults()

    def read(self, messages: Sequence[Any]) -> list[Step]:
        of_message = self._run.of_message
        repeats = repeated(messages)
        if repeats:
            self._run.notes.add("repeated messages", len(repeats))
        for index, held in enumerate(messages):
            role = held.get("role") if type(held) is dict else None
            if type(role) is not str:
                raise damaged(f"message {index + 1} is not an object with a role")
            message, content = held, held.get("content")
            if type(content) is dict:
                message = with_parts(held)
                content = message["content"]
            if role == "model":
                role = "assistant"
            self._at = index
            if index in repeats:
                self._number += len(calls_of(message))
                continue
            is_plain = _PLAIN_FIELDS.issuperset(message)
            recorded: dict[str, Any] = message
            results: Sequence[Result] = ()
            if type(content) is list or not (is_plain or OTHER_SPELLINGS.isdisjoint(message)):
                recorded, results = apart(message)
            facts = of_message.get(index, NO_FACTS) if of_message else NO_FACTS
            if not is_plain:
                facts = self._facts(recorded, role, facts)
            if role == "assistant":
                self._take_answer(index, recorded, facts, results)
            elif role not in RESULT_ROLES:
                by_user = role == "user" and recorded is message
                self._take(index, recorded, role, facts, results, by_user=by_user)
            elif results or not _CALL_KEYS.isdisjoint(recorded):
                self._take_results(index, recorded, role, facts, results)
            else:
                self._result(recorded, facts)
        taken = self._early.take()
        for pending in self._calls.all:
            self._steps[pending.step_index] = self._tool(pending)
        if self._early:
            self._run.notes.add("tool results of no call", len(self._early))
            self._run.notes.has_unasked_results = True
        return _without_taken(self._steps, taken) if taken else self._steps

    def _take_answer(
        self, index: int, message: dict[str, Any], facts: Facts, results: Sequence[Result]
    ) -> None:
        """Add a model's message: its content, its calls and the results in it."""
        step_id = self._message(message, "assistant", facts)
        if message.get("tool_calls") or message.get("function_call"):
            self._ask(own_calls(message), step_id, index)
        if results:
            self._results(results, facts)

    def _take_results(
        self,
        index: int,
        message: dict[str, Any],
        role: str,
        facts: Facts,
        results: Sequence[Result],
    ) -> None:
        """Add a tool's message: the results in it, or its content as a result, and its calls."""
        asks = bool(message.get("tool_calls") or message.get("function_call"))
        says = not results or asks or bool(message.get("content"))
        if asks:
            message, asks = self._without_own_call(message)
        if says:
            self._result(message, facts)
        asked = self._calls.id_in(message) if len(results) == 1 else None
        self._results(results, facts, asked)
        if asks:
            self._ask(own_calls(message), self._message(message, role, facts), index)

    def _take(
        self,
        index: int,
        message: dict[str, Any],
        role: str,
        facts: Facts,
        results: Sequence[Result],
        *,
        by_user: bool,
    ) -> None:
        """Add another message: the results in it, its content, and its calls, which must not be missed, whatever its role."""
        asks = bool(message.get("tool_calls") or message.get("function_call"))
        self._results(results, facts)
        if asks or not results or message.get("content"):
            is_step = role != PROGRAM or message.get("content") is not None
            step_id = self._message(message, role, facts) if is_step else None
            if asks:
                self._ask(own_calls(message), step_id, index, by_user=by_user)

    def _without_own_call(self, message: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Return a tool's message without the call that it answers, and whether it has other calls.

        Some sources repeat the call in its result.
        """
        calls, call_id = own_calls(message), self._calls.id_in(message)
        pending = self._calls.next(call_id)
        known = [] if pending is None else [pending.call]
        new = [
            call
            for call in not_among(known, calls)
            if call.id is None or call.id not in self._calls.last_by_id
        ]
        return {**message, "tool_calls": new, "function_call": None}, bool(new)

    def _facts(self, message: dict[str, Any], role: str, beside: Facts) -> Facts:
        """Return the metadata in a message itself, used as a default for metadata from elsewhere."""
        if (
            role == "assistant"
            and beside is NO_FACTS
            and self._carries_usage
            and _USAGE_FIELDS.issuperset(message)
        ):
            return Facts(usage=read_usage(message.get("usage")))
        notes = self._run.notes
        notes.add_fields(message, self._run.fields, "message")
        usage = read_usage(message["usage"]) if "usage" in message else None
        cost_usd = _cost(message["cost"]) if "cost" in message else None
        if role != "assistant" and (usage or cost_usd):
            notes.add("tokens and cost of messages that are not the agent's")
            usage = cost_usd = None
        get = message.get
        time = time_of(get("timestamp") or get("created_at") or get("createdAt"))
        # Answers and results are recorded when they are complete.
        is_end = role == "assistant" or role in RESULT_ROLES
        return Facts(
            model=string_of(message.get("model")) or beside.model,
            usage=beside.usage or usage,
            cost_usd=cost_usd if beside.cost_usd is None else beside.cost_usd,
            error=beside.error or message.get("error") or message.get("is_error"),
            started_at=beside.started_at or (None if is_end else time),
            ended_at=beside.ended_at or (time if is_end else None),
            finish_reason=beside.finish_reason or get("finish_reason") or get("stop_reason"),
        )

    def _message(self, message: dict[str, Any], role: str, facts: Facts) -> str:
        get = message.get
        step_id = self._ids.take(get("id"), len(self._steps) + 1)
        by_agent = role == "assistant"
        content, ended = get("content"), facts.finish_reason if by_agent else None
        if type(content) is list:
            said = self._spoken(content) if by_agent and content else content
            content = content_of(said, self._run.notes)
        self._steps.append(
            Step(
                id=step_id,
                type="llm" if by_agent else _type_of(role),
                name=string_of(get("name")),
                output=content or string_of(get("refusal")) or content,
                error=None if facts.error is None else _error(facts.error, content),
                model=(facts.model or self._run.model) if by_agent else None,
                finish_reason=None if ended is None else finish_reason_of(ended),
                usage=facts.usage,
                cost_usd=facts.cost_usd,
                started_at=facts.started_at,
                ended_at=facts.ended_at,
            )
        )
        return step_id

    def _spoken(self, parts: list[Any]) -> list[Any] | None:
        """Return the parts of an answer without the model's reasoning."""
        spoken = [
            part
            for part in parts
            if type(part) is not dict
            or part.get("type") == "text"
            or opened(part)[0] != "reasoning"
        ]
        if len(spoken) == len(parts):
            return parts
        self._run.notes.add("parts of the model's reasoning", len(parts) - len(spoken))
        return spoken or None

    def _ask(
        self, calls: list[Call], parent_id: str | None, index: int, *, by_user: bool = False
    ) -> None:
        steps = self._steps
        for call in calls:
            call_id, step_index = call.id, len(steps)
            step_id = self._ids.take(call_id, step_index + 1)
            pending = PendingCall(
                *(call, self._number, step_id, step_index, parent_id, index, by_user)
            )
            self._number += 1
            steps.append(_NOT_READ)
            self._calls.add(pending)
            if self._early:
                self._early.note(pending)

    def _results(self, results: Sequence[Result], facts: Facts, call_id: str | None = None) -> None:
        """Add results found among the parts of a message, with this metadata; `call_id` is for one that names no call."""
        for result in results:
            recorded = {
                "tool_call_id": call_id if result.call_id is None else result.call_id,
                "name": result.name,
                "content": result.output,
            }
            ended_at = facts.ended_at or facts.started_at
            self._result(recorded, Facts(error=result.error or facts.error, ended_at=ended_at))

    def _result(self, message: dict[str, Any], facts: Facts) -> None:
        content = message.get("content")
        if type(content) is list:
            rest, calls, results = sorted_parts(content)
            if calls:  # a tool that ran a sub-agent may report the sub-agent's calls
                step_id = self._add_result({**message, "content": rest or None}, facts)
                self._ask(calls, step_id, -1)
                self._results(results, facts)
                return
        self._add_result(message, facts)

    def _add_result(self, message: dict[str, Any], facts: Facts) -> str:
        """Add a result to the call that it answers, or else as a step; return the ID of the step that has it."""
        pending = self._calls.take(self._calls.id_in(message))
        if pending is None:
            return self._unasked(message, facts)
        pending.result, pending.facts = message, facts
        return pending.step_id

    def _unasked(self, message: dict[str, Any], facts: Facts) -> str:
        """Add a result without a call, or a further result of a call, and return the step's ID."""
        call_id = self._calls.id_in(message)
        known = self._calls.last_by_id.get(call_id) if call_id else None
        if known is not None:
            is_same = (known.result or {}).get("content") == message.get("content")
            self._run.notes.add("repeated tool results" if is_same else "further results of a call")
            if is_same:
                return known.step_id
            return self._other(message, facts)
        self._early.add(call_id, self._at, len(self._steps), message, facts)
        return self._other(message, facts)

    def _other(self, message: dict[str, Any], facts: Facts) -> str:
        content = content_of(message.get("content"), self._run.notes)
        step_id = self._ids.take(None, len(self._steps) + 1)
        self._steps.append(
            Step(
                id=step_id,
                type="other",
                name=string_of(message.get("name")),
                output=content,
                error=_error(facts.error, content),
                ended_at=facts.ended_at,
            )
        )
        return step_id

    def _tool(self, pending: PendingCall) -> Step:
        beside = self._run.of_call.get(pending.number, NO_FACTS)
        call, result, facts = pending.call, pending.result or {}, pending.facts
        content, error = result.get("content"), beside.error or facts.error
        if type(content) is list:
            content = content_of(content, self._run.notes)
        return Step(
            id=pending.step_id,
            # Calls of a simulated user to its own tools are not actions of the agent.
            type="other" if pending.by_user else "tool",
            parent_id=pending.parent_id,
            name=call.name or string_of(result.get("name")) or string_of(result.get("toolName")),
            output=content,
            # Absent arguments mean an empty object; None would mean that they were not recorded.
            arguments={} if call.arguments is None else call.arguments,
            arguments_as_shown=beside.arguments_as_shown,
            error=None if error is None else _error(error, content),
            started_at=beside.started_at,
            ended_at=beside.ended_at or facts.ended_at,
        )


def _without_taken(steps: list[Step], taken: Mapping[int, str]) -> list[Step]:
    """Return steps without those whose results calls have, by index; steps inside them are inside the call with that ID."""
    renamed = {steps[index].id: call_id for index, call_id in taken.items()}
    return [
        structs.replace(step, parent_id=renamed[step.parent_id])
        if step.parent_id in renamed
        else step
        for index, step in enumerate(steps)
        if index not in taken
    ]


def _type_of(role: str) -> StepType:
    if role in _SYSTEM:
        return "system"
    return "user" if role == "user" else "other"


def _error(failed: Any, content: Any) -> str | None:
    if failed is None:
        return None
    if type(failed) is dict:
        failed = string_of(failed.get("message")) or bool(failed)
    if failed is True:
        return content if type(content) is str and content else "error"
    return string_of(failed)


def _cost(recorded: Any) -> float | None:
    """Return the cost of a message; None for an object, which may have the costs of its parts."""
    return None if type(recorded) is dict else cost_of(recorded)
