"""From spans to traces: a step for each model call, tool call and agent, and for what users and systems said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.errors import TraceError
from weighbridge.traces.chat.call_parts import first_of, result_of
from weighbridge.traces.fields import Notes, StepIds, missing_of, parse_arguments, string_of
from weighbridge.traces.model import Capability, Step, StepType, ToolDefinition, Trace
from weighbridge.traces.spans.ai_sdk import are_apart, embeds, wraps_calls
from weighbridge.traces.spans.attributes import (
    agent_name_of,
    arguments_of,
    creates_agent,
    ended_for_tools,
    error_of,
    finish_reason_of_span,
    kind_in_words,
    kind_of,
    model_of,
    result_of_span,
    tool_name_of,
)
from weighbridge.traces.spans.content import (
    gemini_tools_of_span,
    inputs_of,
    outputs_of,
    tools_of_span,
)
from weighbridge.traces.spans.operations import Operation, operations_of
from weighbridge.traces.spans.run_duration import run_duration
from weighbridge.traces.spans.tool_spans import RequestedCall, tool_calls_of
from weighbridge.traces.spans.usage import cost_of_span, unread_costs, usage_of_span
from weighbridge.traces.text_actions import missing_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weighbridge.traces.spans.messages import Message
    from weighbridge.traces.spans.spans import Span

_REASONS: dict[Capability, str] = {
    "token_usage": "no span of a model call records its tokens",
    "timing": "no span records when it ran",
    "cost": "no span records a cost, or tokens to compute it from",
    "tool_definitions": "no span lists the tools that were offered",
}
_NO_CALLS = (
    "there are no spans of tool calls, and those of model calls do not record the model's answers"
)
_NO_MODEL = "there are no spans of model calls"
#: Reasons for a trace without spans of model calls.
_WITHOUT_MODEL: dict[Capability, str] = {
    **_REASONS,
    "token_usage": f"{_NO_MODEL}, which would record tokens",
    "cost": f"{_NO_MODEL}, which would record a cost, or tokens to compute it from",
}
_KINDS_NAMED = 3  #: maximum number of kinds named in a reason
_ONLY_REQUESTS = "there are spans of requests of the AI SDK, but none of the model calls in them"
_HIDDEN_CALLS = "a model call ended with tool calls, but no span records the calls"
_CONVERSATIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "gen_ai.session.id",
)
_IO_INPUTS = (
    "input.value",
    "traceloop.entity.input",
    "mlflow.spanInputs",
    "langfuse.observation.input",
)
_IO_OUTPUTS = (
    *("output.value", "traceloop.entity.output", "mlflow.spanOutputs"),
    *("langfuse.observation.output", "final_result"),
)


def traces_of(
    spans: Iterable[Span],
    format_id: str,
    notes: Mapping[str, int] | None = None,
    *,
    others: Iterable[Span] = (),
) -> list[Trace]:
    """Return a trace for each trace ID whose spans have any step.

    `others` are spans of the same traces that are not the agent's, such as those of scorers.
    Raises TraceError when no span is of a model, a tool or an agent.
    """
    by_trace: dict[str, dict[Any, Span]] = {}
    total = 0
    for span in spans:
        total += 1
        group = by_trace.setdefault(span.trace_id, {})
        key = span.id or len(group)
        # An exporter may send a span again, also first when it starts and then when it ends.
        if key not in group or (group[key].ended_at is None and span.ended_at is not None):
            group[key] = span
    groups = [list(group.values()) for group in by_trace.values()]
    has_wrapped = are_apart([span.attributes for span in group] for group in groups)
    longer = frozenset(span.parent_id for span in others if span.parent_id)
    runs = [_Run(group, longer, has_wrapped=has_wrapped) for group in groups]
    found = [run for run in runs if run.is_of_agent] or [run for run in runs if run.operations]
    if not found and any(creates_agent(span.attributes) for run in runs for span in run.spans):
        raise TraceError(
            f"none of {total:,} spans records a model call, a tool call or an agent's run: they only create agents",
            "export the spans of the runs, too",
        )
    if not found:
        raise TraceError(
            f"none of {total:,} spans has attributes known to mark a model call, a tool call or an agent",
            "such as gen_ai.operation.name, openinference.span.kind or span.type; a trace mapping reads others",
        )
    found[0].note(
        {
            "repeated spans": total - sum(map(len, by_trace.values())),
            "traces without a model call, tool call or agent": len(runs) - len(found),
            **(notes or {}),
        }
    )
    return [run.trace(format_id) for run in found]


class _Run:
    """The spans of one trace, and the steps that they become."""

    def __init__(self, spans: list[Span], longer: frozenset[str], *, has_wrapped: bool) -> None:
        self._longer = longer  #: IDs of spans that last longer than the run
        self.operations = operations_of(spans, has_wrapped=has_wrapped)
        self.is_of_agent = not all(embeds(found.spans[0].attributes) for found in self.operations)
        self._notes = Notes()
        self.spans = spans
        self._calls = tool_calls_of(self.operations)
        self._ids = StepIds()
        self._steps: list[Step] = []
        self._step_ids: list[str] = []  #: IDs of the operations' steps, by the operation's index
        #: Texts of messages, by index in the request and role.
        self._said: dict[tuple[int, str], str] = {}

    def note(self, left_behind: Mapping[str, int]) -> None:
        """Note the data that the trace does not carry, with counts."""
        for what, count in left_behind.items():
            if count:
                self._notes.add(what, count)

    def trace(self, format_id: str) -> Trace:
        """Return the trace."""
        for index, operation in enumerate(self.operations):
            if operation.has_own_messages:
                self._add_inputs(operation)
            for requested in self._calls.in_requests.get(index, ()):
                self._add_unseen(requested, self._parent_id(operation))
            if operation.kind == "tool":
                self._add_tool(index, operation)
            else:
                self._add_operation(operation)
            for requested in self._calls.unseen.get(index, ()):
                self._add_unseen(requested, self._step_ids[requested.caller])
        thought = (message.reasoning for found in self.operations for message in found.outputs)
        used = sum(len(operation.spans) for operation in self.operations)
        without_calls = sum(step.type == "tool" and step.arguments is None for step in self._steps)
        self.note(
            {
                "spans that are no step, such as HTTP, a database or a chain": len(self.spans)
                - used,
                "parts of the model's reasoning": sum(thought),
                "tool calls whose arguments no span records": without_calls,
                "tool calls of earlier turns that are in a request": self._calls.earlier,
            }
        )
        tools = self._tools()
        return Trace(
            id=self.spans[0].trace_id or None,
            steps=tuple(self._steps),
            format=format_id,
            tools=tools,
            metadata=self._metadata(),
            missing=self._missing(tools),
            not_carried=self._notes.summaries(),
            **run_duration(
                self.spans,
                [span for found in self.operations for span in found.spans],
                self._longer,
            ),
        )

    def _add(self, kind: StepType, wanted: str | None, parent: str | None, **facts: Any) -> str:
        step_id = self._ids.take(wanted, len(self._steps) + 1)
        self._steps.append(Step(id=step_id, type=kind, parent_id=parent, **facts))
        return step_id

    def _parent_id(self, operation: Operation) -> str | None:
        return None if operation.parent is None else self._step_ids[operation.parent]

    def _add_inputs(self, operation: Operation) -> None:
        """Add the new user and system messages of a request, which repeats all earlier ones."""
        answered = [
            index
            for index, message in enumerate(operation.inputs)
            if message.results or message.role in {"assistant", "tool"}
        ]
        for index, message in enumerate(operation.inputs):
            text, role = message.text, message.role
            if (
                not text
                or role not in {"user", "system"}
                or (role == "user" and operation.is_inner)
            ):
                continue
            said = self._said.get((index, role))
            # A prompt that only grew at its end is the same one. So is a system prompt with changes, such as another date.
            if said is not None and (role == "system" or text.startswith(said)):
                continue
            self._said[index, role] = text
            if role == "system":
                self._add("system", None, self._parent_id(operation), output=text)
            elif not answered or index >= answered[-1]:
                self._add("user", None, self._parent_id(operation), output=text)

    def _add_operation(self, operation: Operation) -> None:
        kind: Any = operation.kind
        span = operation.spans[0]
        facts: dict[str, Any] = {"output": _text(operation.outputs, "assistant")}
        usage = operation.first(usage_of_span)
        if usage and _is_request(operation):
            usage = structs.replace(usage, is_partial=True)
        if kind == "llm":
            facts["finish_reason"] = operation.first(finish_reason_of_span) or next(
                filter(None, (said.finish_reason for said in operation.outputs)), None
            )
        else:
            requested, answered = (
                first_of(span.attributes, _IO_INPUTS),
                first_of(span.attributes, _IO_OUTPUTS),
            )
            facts["name"] = operation.first(agent_name_of) if kind == "agent" else span.name or None
            facts["input"] = _text(operation.inputs, "user") or requested
            facts["output"] = facts["output"] or answered
        for each in operation.spans:
            self._notes.add_fields(unread_costs(each), frozenset(), "span")
        step_id = self._add(
            kind,
            span.id,
            self._parent_id(operation),
            error=error_of(span),
            model=operation.first(model_of),
            usage=usage,
            cost_usd=operation.first(cost_of_span),
            started_at=operation.started_at,
            ended_at=operation.ended_at,
            **facts,
        )
        self._step_ids.append(step_id)

    def _add_tool(self, index: int, operation: Operation) -> None:
        requested = self._calls.ran.get(index)
        known_result = requested.result if requested else self._calls.results.get(index)
        arguments, output_found = operation.first(arguments_of), operation.first(result_of_span)
        if arguments is None or output_found is None:
            recorded_arguments, recorded = _recorded(operation)
            arguments = recorded_arguments if arguments is None else arguments
            output_found = recorded if output_found is None else output_found
        if requested and type(arguments) is not dict and requested.call.arguments not in (None, ""):
            arguments = requested.call.arguments
        output, error = result_of(output_found)
        if known_result and output is None:
            output = known_result.output
        step_id = self._add(
            "tool",
            operation.spans[0].id,
            self._caller_id(index, operation, requested),
            name=operation.first(tool_name_of),
            arguments=arguments,
            output=output,
            error=operation.first(error_of)
            or error
            or (known_result.error if known_result else None),
            started_at=operation.started_at,
            ended_at=operation.ended_at,
        )
        self._step_ids.append(step_id)

    def _caller_id(
        self, index: int, operation: Operation, requested: RequestedCall | None
    ) -> str | None:
        """Return the step ID of the model call that requested a tool call, if both are siblings, or else of its parent."""
        if requested and requested.caller < index:
            caller = self.operations[requested.caller]
            if caller.kind == "llm" and caller.parent == operation.parent:
                return self._step_ids[requested.caller]
        return self._parent_id(operation)

    def _add_unseen(self, requested: RequestedCall, parent: str | None) -> None:
        """Add a tool call without a span, known only from the model's answer or a later request."""
        result = requested.result
        self._add(
            "tool",
            requested.call.id,
            parent,
            name=requested.call.name,
            arguments=requested.call.arguments,
            output=result.output if result else None,
            error=result.error if result else None,
        )

    def _tools(self) -> tuple[ToolDefinition, ...]:
        for output_found in (tools_of_span, gemini_tools_of_span):
            tools: dict[str, ToolDefinition] = {}
            for span in self.spans:
                if kind_of(span) != "none":
                    for tool in output_found(span):
                        tools.setdefault(tool.name, tool)
            if tools:
                return tuple(tools.values())
        return ()

    def _metadata(self) -> dict[str, Any]:
        services = dict.fromkeys(span.service for span in self.spans if span.service)
        conversation = next(
            (
                name
                for span in self.spans
                if (name := string_of(first_of(span.attributes, _CONVERSATIONS)))
            ),
            None,
        )
        output_found = {"services": list(services), "conversation": conversation}
        return {key: value for key, value in output_found.items() if value}

    def _missing(self, tools: Sequence[ToolDefinition]) -> dict[Capability, str]:
        has_model_calls = any(found.kind == "llm" for found in self.operations)
        reasons = _REASONS if has_model_calls else _WITHOUT_MODEL
        missing = missing_of(self._steps, reasons, tools=tools)
        missing.update(missing_calls(self._steps, self._notes))
        if any(map(_is_request, self.operations)):
            missing = {"llm_calls": _ONLY_REQUESTS, **missing}
        with_messages = [found for found in self.operations if found.has_own_messages]
        if any(step.type == "tool" for step in self._steps):
            return missing
        without_calls = (
            found for found in with_messages if not any(said.calls for said in found.outputs)
        )
        if any(found.first(ended_for_tools) for found in without_calls):
            return {"tool_calls": _HIDDEN_CALLS, **missing}
        if not any(
            found.outputs or found.first(ended_for_tools) is False for found in with_messages
        ):
            return {"tool_calls": _NO_CALLS if has_model_calls else self._no_calls(), **missing}
        return missing

    def _no_calls(self) -> str:
        """Return the reason why the tool calls of a trace without spans of calls are not known."""
        kinds = dict.fromkeys(kind_in_words(found.spans[0]) for found in self.operations)
        named = ", ".join(list(filter(None, kinds))[:_KINDS_NAMED])
        others = f"those of other kinds ({named})" if named else "others"
        return f"there are no spans of model calls or tool calls, only {others}"


def _is_request(operation: Operation) -> bool:
    """Return whether an operation is a request of the AI SDK; its model calls, one or several, have no spans."""
    return operation.kind == "llm" and wraps_calls(operation.spans[0].attributes)


def _text(messages: Sequence[Message], role: str) -> str | None:
    texts = [
        text for message in messages if message.role == role and (text := message.text) is not None
    ]
    return "\n".join(texts) if texts else None


def _recorded(operation: Operation) -> tuple[Any, Any]:
    """Return a tool call's arguments and result from the messages that its spans recorded."""
    sent = [message for span in operation.spans for message in inputs_of(span)]
    received = [message for span in operation.spans for message in outputs_of(span)]
    arguments = [call.arguments for message in sent for call in message.calls]
    arguments += [parse_arguments(result.output) for message in sent for result in message.results]
    results = [result.output for message in received for result in message.results]
    results += [message.text for message in received]
    return next(iter(arguments), None), next(iter(results), None)
