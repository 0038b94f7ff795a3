"""Traces of Amazon Bedrock Agents: the events that InvokeAgent and InvokeInlineAgent stream, or the steps that the console shows.

Each event has one part of a step: a model's input, its output, its rationale, a call, or a call's result. The console and
some programs have several parts in one object. Events of a supervisor and its collaborators alternate.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from msgspec import Struct, field, structs

from weighbridge.traces.fields import (
    Notes,
    StepIds,
    counted,
    id_of,
    missing_of,
    object_of,
    objects_of,
    read_usage,
    scalars,
    string_of,
    time_of,
    word_of,
)
from weighbridge.traces.formats.bedrock_calls import (
    ACTION,
    COLLABORATOR,
    LOOKUP,
    OUTPUTS,
    action_arguments,
    action_name,
    call_of,
    output_name,
    output_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Capability, Step, Trace
from weighbridge.traces.text_actions import missing_calls

_STEPS = frozenset(
    {
        *("preProcessingTrace", "orchestrationTrace", "postProcessingTrace"),
        "routingClassifierTrace",
    }
)
_CUSTOM = "customOrchestrationTrace"
_OTHERS = frozenset({_CUSTOM, "guardrailTrace"})
_FAILURE = "failureTrace"
_KINDS = _STEPS | _OTHERS | {_FAILURE}
_PARTS = frozenset(
    {
        *("modelInvocationInput", "modelInvocationOutput", "rationale", "invocationInput"),
        "observation",
    }
)
_WRAPPER = "trace"
_WRAPPINGS = 2  #: number of wrappings of an event: its trace part, and the trace in it
_CALLER = "callerChain"
_EVENT_KEYS = frozenset({*_KINDS, _WRAPPER, _CALLER})  #: keys of which each event has at least one
_ANY_STEP = ""
_REASONS: dict[Capability, str] = {
    "token_usage": "no output of a model records its usage",
    "timing": "no part of this trace records its time",
    "cost": "these traces carry no cost, and this one no tokens to compute it from",
    "tool_definitions": "these traces do not list the action groups that were offered",
}


def _opened(event: Any) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    """Return an event's trace part, and the traces in it with their kinds; a value that is not an event has none."""
    if type(event) is not dict:
        return {}, []
    part = held = event
    for _ in range(_WRAPPINGS + 1):
        traces = [(kind, item) for kind, item in held.items() if kind in _KINDS and item]
        traces = [(kind, item) for kind, item in traces if type(item) is dict]
        if traces:
            return part, traces
        if type(held.get(_WRAPPER)) is not dict:
            break
        if held is not event:
            part = held
        held = held[_WRAPPER]
    is_shown = _CALLER in event and any(type(event.get(name)) in {dict, list} for name in _PARTS)
    return event, [("orchestrationTrace", event)] if is_shown else []


def _is_event(value: Any) -> bool:
    if type(value) is not dict or _EVENT_KEYS.isdisjoint(value):
        return False
    return any(
        kind not in _STEPS or not _PARTS.isdisjoint(step) for kind, step in _opened(value)[1]
    )


def _matches(value: Any) -> bool:
    events = value.get("completion") if type(value) is dict else value
    return any(map(_is_event, events)) if type(events) is list else _is_event(value)


def _read(value: Any) -> list[Trace]:
    whole = object_of(value)
    listed = whole.get("completion")
    events = value if type(value) is list else listed if type(listed) is list else [value]
    reader = _EventReader()
    asked = string_of(whole.get("inputText"))
    if asked:
        reader.add("user", output=asked)
    for event in objects_of(events):
        reader.event(event)
    return [reader.trace(id_of(whole.get("sessionId")))]


class _Draft(Struct, eq=False):
    """A step that may still get a result or a text."""

    step: Step
    is_answered: bool = False  #: whether a call has its result
    rationale: str | None = None


class _Agent(Struct, eq=False):
    """The state of an agent; several agents may run at a time."""

    parent_id: str | None = None
    asked: dict[str, Any] | None = None  #: input of a model call without an answer so far
    asked_at: int | None = None
    answer: _Draft | None = None  #: the last answer
    step: str | None = None  #: ID of the last answer's step
    has_called: bool = False  #: whether a call was made since the last answer
    brought: Any = None  #: result of the last call
    inferred: _Draft | None = None  #: the last answer, if its output is not recorded yet
    #: Calls that wait for a result, by kind of output and ID of their step. Each is also listed under `_ANY_STEP`.
    waiting: dict[tuple[str, str | None], deque[_Draft]] = field(default_factory=dict)

    def wait(self, output: str, step: str | None, call: _Draft) -> None:
        """Register a call that waits for its result."""
        for key in {step, _ANY_STEP}:
            self.waiting.setdefault((output, key), deque()).append(call)

    def answered(self, output: str, step: str | None) -> _Draft | None:
        """Return the call of a result: the first one of its step, or else the first one whose step is unknown."""
        for key in (_ANY_STEP,) if step is None else (step, None):
            calls = self.waiting.get((output, key)) or deque()
            while calls:
                call = calls.popleft()
                if not call.is_answered:
                    call.is_answered = True
                    return call
        return None


class _EventReader:
    def __init__(self) -> None:
        self._ids = StepIds()
        self._drafts: list[_Draft] = []
        self._agents: dict[str, _Agent] = {}
        #: ID of the last call of each collaborator, by name.
        self._collaborators: dict[str, str] = {}
        #: IDs of calls that the caller of the agent runs.
        self._invocations: set[str | None] = set()
        #: Texts of the events that have a time, by which repeats are found.
        self._events: set[str] = set()
        self._notes = Notes()
        self._session: str | None = None
        self._has_answer = False  #: whether a trace has the final response
        #: Number of the answer's text chunks, which are streamed beside the traces.
        self._chunks = 0

    def event(self, event: dict[str, Any]) -> None:
        """Add an event of the stream."""
        part, traces = _opened(event)
        if not traces:
            self._other(event)
            return
        time = time_of(part.get("eventTime"))
        if time is not None and self._is_repeated(event):
            self._notes.add("repeated events")
            return
        self._session = self._session or id_of(part.get("sessionId"))
        agent = self._agent(part)
        for kind, step in traces:
            if kind == _FAILURE:
                self._fail(agent, string_of(step.get("failureReason")) or "error", time)
            elif kind in _OTHERS:
                self._notes.add_kind("traces", kind)
                # Custom traces may have calls in another form.
                self._notes.calls_left += kind == _CUSTOM
            else:
                self._step(agent, step, time)

    def _is_repeated(self, event: dict[str, Any]) -> bool:
        recorded = repr(event)
        is_known = recorded in self._events
        self._events.add(recorded)
        return is_known

    def _agent(self, part: dict[str, Any]) -> _Agent:
        name = string_of(part.get("collaboratorName"))
        key = name or id_of(part.get("agentId")) or ""
        if key not in self._agents:
            self._agents[key] = _Agent()
        if name is not None:
            self._agents[key].parent_id = self._collaborators.get(name)
        return self._agents[key]

    def _other(self, event: dict[str, Any]) -> None:
        control = object_of(event.get("returnControl"))
        for kind, held in event.items():
            if kind == "returnControl":
                name = id_of(control.get("invocationId"))
                if name not in self._invocations:
                    self._returned(control)
                if name is not None:
                    self._invocations.add(name)
            elif kind == "chunk":
                self._chunks += 1
            elif kind.endswith("Exception"):
                reason = string_of(object_of(held).get("message")) or kind
                self.add("other", output=reason, error=reason)
            elif kind != "files":
                self._notes.add_kind("events", kind)

    def _returned(self, control: dict[str, Any]) -> None:
        """Add the calls that the agent's caller shall run, if no trace of them was streamed."""
        for each in objects_of(control.get("invocationInputs")):
            for held in (each.get("functionInvocationInput"), each.get("apiInvocationInput")):
                if type(held) is dict:
                    self.add("tool", name=action_name(held), arguments=action_arguments(held))

    def add(self, kind: Any, **fields: Any) -> _Draft:
        """Add a step."""
        name = self._ids.take(fields.pop("id", None), len(self._drafts) + 1)
        self._drafts.append(_Draft(Step(id=name, type=kind, **fields)))
        return self._drafts[-1]

    def _step(self, agent: _Agent, step: dict[str, Any], time: int | None) -> None:
        if type(step.get("modelInvocationInput")) is dict:
            self._answered(agent, None)  # the call before, whose output is not recorded
            agent.asked, agent.asked_at = step["modelInvocationInput"], time
            agent.inferred = None
        if type(step.get("modelInvocationOutput")) is dict:
            self._answer(agent, step["modelInvocationOutput"], time)
        if type(step.get("rationale")) is dict:
            self._reason(agent, step["rationale"], time)
        for held in _listed(step.get("invocationInput")):
            self._answered(agent, time)
            self._call(agent, held, time)
        for held in _listed(step.get("observation")):
            self._observe(agent, held, time)

    def _answer(self, agent: _Agent, output: dict[str, Any], time: int | None) -> _Draft:
        metadata, asked = object_of(output.get("metadata")), agent.asked or {}
        if output.get("reasoningContent"):
            self._notes.add("parts of the model's reasoning")
        parsed = object_of(output.get("parsedResponse"))
        found: dict[str, Any] = {
            "output": string_of(parsed.get("text")) or string_of(parsed.get("rationale")),
            "usage": counted(read_usage(metadata.get("usage"))),
            "ended_at": time_of(metadata.get("endTime")) or time,
        }
        if agent.asked is None and agent.inferred is not None:  # its output is recorded late
            found["output"] = agent.inferred.step.output or found["output"]
            agent.inferred.step = structs.replace(agent.inferred.step, **found)
            answer, agent.inferred = agent.inferred, None
            return answer
        agent.answer = self.add(
            "llm",
            parent_id=agent.parent_id,
            model=string_of(asked.get("foundationModel")),
            started_at=time_of(metadata.get("startTime")) or agent.asked_at,
            **found,
        )
        agent.step = id_of(output.get("traceId")) or id_of(asked.get("traceId"))
        agent.asked, agent.has_called = None, False
        return agent.answer

    def _reason(self, agent: _Agent, rationale: dict[str, Any], time: int | None) -> None:
        """Add a rationale to the answer of its step, or to a new answer if nothing else records one."""
        self._answered(agent, time)
        answer, name = agent.answer, id_of(rationale.get("traceId"))
        if answer is None or (agent.has_called and (name is None or name != agent.step)):
            agent.inferred = None
            answer = agent.inferred = self._answer(agent, {"traceId": name}, time)
        answer.rationale = string_of(rationale.get("text"))

    def _answered(self, agent: _Agent, time: int | None) -> None:
        """Add the answer of a model whose output is recorded later, or not at all, as in older traces."""
        if agent.asked is not None:
            agent.inferred = self._answer(agent, {}, time)

    def _call(self, agent: _Agent, held: dict[str, Any], time: int | None) -> None:
        for kind, waits_for in OUTPUTS.items():
            given = held.get(kind)
            if type(given) is not dict:
                continue
            name = id_of(given.get("invocationId"))
            if name is not None:
                self._invocations.add(name)
            agent.has_called = True
            tool, arguments = call_of(kind, given)
            answer = agent.answer.step.id if agent.answer else agent.parent_id
            call = self.add(
                "tool", id=name, parent_id=answer, name=tool, arguments=arguments, started_at=time
            )
            agent.wait(output_name(waits_for, given), id_of(held.get("traceId")), call)
            if kind == COLLABORATOR and tool:
                self._collaborators[tool] = call.step.id
            return
        if word_of(held.get("invocationType")) not in {"", "FINISH"}:
            self._notes.add("calls of an unknown kind")
            self._notes.calls_left += 1

    def _observe(self, agent: _Agent, held: dict[str, Any], time: int | None) -> None:
        for waits_for in OUTPUTS.values():
            given = held.get(waits_for)
            if type(given) is dict:
                call = agent.answered(output_name(waits_for, given), id_of(held.get("traceId")))
                agent.brought = self._result(call, waits_for, given, time)
        final, again = held.get("finalResponse"), held.get("repromptResponse")
        if type(final) is dict:
            self._answered(agent, time)
            self._finish(agent, string_of(final.get("text")), time)
        if type(again) is dict:
            self._answered(agent, time)
            self._reprompt(agent, again, id_of(held.get("traceId")), time)

    def _result(
        self, call: _Draft | None, waits_for: str, given: dict[str, Any], time: int | None
    ) -> Any:
        output, error = output_of(waits_for, given)
        metadata = object_of(given.get("metadata"))
        found = {"output": output, "error": error}
        found["ended_at"] = time_of(metadata.get("endTime")) or time
        if call is None:
            self._notes.add("results of no call")
            self._notes.has_unasked_results = True
            self.add("other", **found)
            return output
        found["started_at"] = time_of(metadata.get("startTime")) or call.step.started_at
        call.step = structs.replace(call.step, **found)
        return output

    def _finish(self, agent: _Agent, text: str | None, time: int | None) -> None:
        """Set the text of the agent's answer as the output of its model's last answer, or add an answer with it.

        If a call followed the last answer, an answer is added, unless the text is the call's result: a router passes it on.
        """
        self._has_answer = True
        answer = None if agent.has_called and agent.brought != text else agent.answer
        answer = answer or self.add("llm", parent_id=agent.parent_id, ended_at=time)
        answer.step = structs.replace(answer.step, output=text)
        if answer.rationale:
            self._notes.add("parts of the model's reasoning")
        agent.answer, agent.has_called = None, False

    def _reprompt(
        self, agent: _Agent, again: dict[str, Any], step: str | None, time: int | None
    ) -> None:
        """Add the reason why the model was called again: a call failed, or the answer could not be read."""
        text = string_of(again.get("text")) or "error"
        source = word_of(again.get("source"))
        if source in {"ACTION_GROUP", "KNOWLEDGE_BASE"}:
            is_action = source == "ACTION_GROUP"
            call = agent.answered(OUTPUTS[ACTION if is_action else LOOKUP], step)
            if call is not None:
                call.step = structs.replace(call.step, output=text, error=text, ended_at=time)
                return
        if agent.answer is not None and agent.answer.step.error is None:
            agent.answer.step = structs.replace(agent.answer.step, error=text)
        else:
            self.add("other", output=text, error=text, ended_at=time)

    def _fail(self, agent: _Agent, reason: str, time: int | None) -> None:
        """Add a failure of the model call at hand, or else of the step."""
        if agent.asked is not None:
            answer = self._answer(agent, {}, time)
            answer.step = structs.replace(answer.step, error=reason)
        else:
            self.add("other", output=reason, error=reason, ended_at=time)

    def trace(self, name: str | None) -> Trace:
        """Return the trace of all events."""
        for agent in self._agents.values():
            self._answered(agent, None)
        if not self._has_answer and self._chunks:
            self._notes.add("chunks of the answer", self._chunks)
        steps = tuple(map(_finished, self._drafts))
        missing = {
            **missing_calls(steps, self._notes, in_text=False),
            **missing_of(steps, _REASONS),
        }
        return Trace(
            id=name or self._session,
            steps=steps,
            format="bedrock-agents",
            metadata=scalars(agents=len(self._agents)) if len(self._agents) > 1 else {},
            missing=missing,
            not_carried=self._notes.summaries(),
        )


def _finished(draft: _Draft) -> Step:
    step = draft.step
    if step.type == "llm" and step.output is None and draft.rationale:
        return structs.replace(step, output=draft.rationale)
    return step


def _listed(held: Any) -> list[dict[str, Any]]:
    return [held] if type(held) is dict else objects_of(held)


IMPORTER = Importer(
    id="bedrock-agents",
    name="Amazon Bedrock Agents traces",
    matches=_matches,
    read=_read,
    is_line=_is_event,
    fields=(
        ("id", "sessionId; of a tool call invocationId"),
        ("type", "modelInvocationOutput is llm, or an input without one; invocationInput is tool"),
        ("parent_id", "the answer before a call; of a collaborator's steps the call of it"),
        (
            "name",
            "function, or verb and apiPath; knowledge_base, code_interpreter, the collaborator",
        ),
        (
            "arguments",
            "parameters and requestBody by their names and types; input of a collaborator",
        ),
        (
            "output",
            "finalResponse, or rationale, or parsedResponse; of a tool call the observation",
        ),
        ("error", "executionError, repromptResponse, failureReason, an exception's message"),
        ("model", "foundationModel of the modelInvocationInput"),
        ("usage", "metadata.usage of the modelInvocationOutput"),
        ("started_at, ended_at", "startTime and endTime of the metadata, or eventTime"),
    ),
    tried_on="two steps of the console that a user published, shortened; synthetic events, modelled on the service's definition",
    lacks="prompts, raw responses, cost, tool definitions",
)
