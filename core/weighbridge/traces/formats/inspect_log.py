"""Inspect's logs: each sample of an evaluation is a trace, in a whole log or alone as in the parts of an `.eval` file.

A sample has its conversation under `messages`. Its `events` record each model call, including those of sub-agents, which are
not in the conversation, and those of scorers, which are not part of the agent's run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import PROGRAM, Run
from weighbridge.traces.chat.facts import NO_FACTS, Facts
from weighbridge.traces.fields import (
    cost_of,
    count_of,
    counted,
    finish_reason_in,
    id_of,
    input_with_caches,
    object_of,
    objects_of,
    scalars,
    string_of,
    text_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.traces.model import Capability, Trace

LOG_STATUS = "log_status"  #: key of the log's status in samples that are read from a log
#: Statuses of evaluations that did not end, or that failed.
UNFINISHED = frozenset({"started", "cancelled", "error"})
_REFERENCES = ("attachment://", "tc://")  #: prefixes of references to attachments
_SAMPLE_FIELDS = frozenset(
    {
        *("id", "epoch", "input", "target", "messages", "output", "scores", "metadata", "store"),
        *("events", "transcript", "model_usage", "total_time", "working_time", "uuid"),
        *("attachments", "error", "limit", "choices", "sandbox", "files", "setup", "started_at"),
        *("completed_at", "timelines", "events_data", "role_usage", "invalidation", LOG_STATUS),
    }
)
_COUNTS = (
    *("input_tokens", "output_tokens", "total_tokens"),
    *("input_tokens_cache_read", "input_tokens_cache_write"),
)
_GENERATED, _INPUT = "generate", "input"  #: sources of a message
_SCORING = frozenset({"scorer", "scorers", "score"})
_REASONS: dict[Capability, str] = {
    "token_usage": "the sample has neither the usage of its model calls nor its model_usage",
    "timing": "the sample has no events, which record the times",
    "cost": "Inspect records no cost of this sample, and no tokens to compute it from",
    "tool_definitions": "no model call among the sample's events lists the tools",
}


def _matches(value: Any) -> bool:
    return _is_log(value) or _is_sample(value)


def _is_log(value: Any) -> bool:
    if type(value) is not dict or type(value.get("eval")) is not dict:
        return False
    about = value["eval"]
    has_run = not {"samples", "results", "plan"}.isdisjoint(value)
    return has_run and ("task" in about or "eval_id" in about or "run_id" in about)


def _is_sample(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("epoch")) is int
        and type(value.get("messages")) is list
        and "input" in value
        and "target" in value
    )


def _read(value: dict[str, Any]) -> list[Trace]:
    if _is_sample(value):
        return [_read_sample(value, {})]
    return [_read_sample(sample, value) for sample in objects_of(value.get("samples"))]


def _parts(value: dict[str, Any]) -> list[tuple[str | None, Any]]:
    """Return each sample of a log as a separate log; a log of a single sample is unchanged."""
    if _is_sample(value):
        return [(_id(value), value)]
    about: dict[str, Any] = {
        key: item for key, item in value.items() if key in {"version", "status", "eval"}
    }
    return [
        (_id(sample), {**about, "samples": [sample]}) for sample in objects_of(value.get("samples"))
    ]


def _id(sample: dict[str, Any]) -> str | None:
    """Return a sample's id, with its epoch."""
    return sample_id(sample.get("id"), sample.get("epoch", 1))


def sample_id(own_id: Any, epoch: Any) -> str | None:
    """Return the id of one epoch of a sample, `3/1`; None for a sample without an id."""
    named = id_of(own_id)
    return f"{named}/{epoch}" if named else None


def _read_sample(sample: dict[str, Any], log: dict[str, Any]) -> Trace:
    reader = _Sample(sample)
    reader.read()
    about = object_of(log.get("eval"))
    status = word_of(sample.get(LOG_STATUS)) or word_of(log.get("status"))
    usage = _total(sample, reader.scorers)
    scores = {
        f"score {name}"[:80]: object_of(score).get("value")
        for name, score in object_of(sample.get("scores")).items()
    }
    run = Run(
        id=_id(sample),
        tools=list(reader.tools.values()),
        model=string_of(object_of(sample.get("output")).get("model"))
        or string_of(about.get("model")),
        usage=usage,
        started_at=time_of(sample.get("started_at")),
        ended_at=time_of(sample.get("completed_at")),
        metadata=scalars(
            task=about.get("task"),
            status=status or None,
            uuid=sample.get("uuid"),
            error=object_of(sample.get("error")).get("message"),
            limit=object_of(sample.get("limit")).get("type"),
            duration_seconds=sample.get("total_time"),
            **scores,
        ),
    )
    totals = "model_usage" if usage else ""
    trace = reader.chat.trace("inspect", _REASONS, run, totals_from=totals)
    if status not in UNFINISHED:
        return trace
    note = (
        f"samples that were not run, or not to their end: the evaluation has the status {status!r}"
    )
    return replace(trace, not_carried=(*trace.not_carried, note))


class _Sample:
    """Reader of a sample's messages, with metadata and further calls from its events."""

    def __init__(self, sample: dict[str, Any]) -> None:
        self.chat = ChatLog()
        self.tools: dict[str, Any] = {}
        self.scorers: list[Usage | None] = []  #: usage of each model call of a scorer
        self._sample = sample
        self._messages = objects_of(sample.get("messages"))
        self._at = 0  #: index of the first unread message
        self._of_models: set[str | None] = set()  #: IDs of messages that are models' answers
        self._next_answers = _next_answers(self._messages)
        older = object_of(sample.get("transcript"))
        self._held = object_of(sample.get("attachments")) or object_of(older.get("content"))
        self._events = objects_of(sample.get("events") or older.get("events"))
        self._recorded = set(_answer_ids(self._events))  #: IDs of answers of model events
        self._ids = {
            id_of(message.get("id")): index
            for index, message in reversed(list(enumerate(self._messages)))
            if message.get("id") is not None
        }
        self._results = {
            id_of(message.get("tool_call_id"))
            for message in self._messages
            if message.get("role") == "tool"
        }

    def read(self) -> None:
        """Read the whole sample."""
        self.chat.notes.add_fields(self._sample, _SAMPLE_FIELDS, "sample")
        last = _answer(object_of(self._sample.get("output")))
        name = id_of(last.get("id"))
        if name is not None and name in self._ids:
            index = self._ids[name]
            self._messages[index] = _with_removed_calls(self._messages[index], last)
        for event, is_scoring in _flattened(self._events):
            kind = event.get("event")
            if kind == "model":
                self._model(event, is_scoring=is_scoring)
            elif kind == "tool" and not is_scoring:
                self._tool(event)
        self._say_until(len(self._messages), NO_FACTS)
        if self.scorers:
            self.chat.notes.add("model calls of scorers", len(self.scorers))

    def _model(self, event: dict[str, Any], *, is_scoring: bool) -> None:
        output = object_of(event.get("output"))
        usage = _usage(output.get("usage"))
        if is_scoring:
            self.scorers.append(usage)
            return
        for tool in objects_of(event.get("tools")):
            self.tools.setdefault(str(tool.get("name")), tool)
        if event.get("pending") is True:
            return
        if event.get("cache") == "read":
            usage = Usage(0, 0, 0)  # no model was called
            self.chat.notes.add("answers from Inspect's cache, which count as model calls")
        facts = Facts(
            model=string_of(output.get("model")) or string_of(event.get("model")),
            usage=usage,
            cost_usd=cost_of(object_of(output.get("usage")).get("total_cost")),
            error=string_of(event.get("error")) or string_of(output.get("error")),
            started_at=time_of(event.get("timestamp")),
            ended_at=time_of(event.get("completed")),
            finish_reason=finish_reason_in(output),
        )
        answer = _answer(output)
        index = self._index_of(answer)
        if index is not None:
            self._of_models.add(id_of(self._messages[index].get("id")))
            self._messages[index] = _with_removed_calls(self._messages[index], answer)
            self._say_until(index, NO_FACTS)
            self._say_until(index + 1, facts)
        elif answer or facts.error:
            self._say(answer or {"role": "assistant", "content": None}, facts)

    def _index_of(self, answer: dict[str, Any]) -> int | None:
        """Return the index of an answer in the conversation, or None."""
        name = id_of(answer.get("id"))
        if name in self._ids:
            index = self._ids[name]
            return index if index >= self._at else None
        index = self._next_answers[self._at]
        if index is not None and self._is_same(self._messages[index], answer):
            return index
        return None

    def _is_same(self, message: dict[str, Any], answer: dict[str, Any]) -> bool:
        """Return whether a message has an answer's text and calls, and is no other event's answer.

        A solver may copy the messages, with new IDs.
        """
        if not answer or id_of(message.get("id")) in self._recorded:
            return False
        said, copied = (text_of(self._opened(each.get("content"))) for each in (answer, message))
        return (said or None) == (copied or None) and [call.id for call in calls_of(message)] == [
            call.id for call in calls_of(answer)
        ]

    def _say_until(self, end: int, facts: Facts) -> None:
        for message in self._messages[self._at : end]:
            self._say(message, facts if message.get("role") == "assistant" else NO_FACTS)
        self._at = max(self._at, end)

    def _say(self, message: dict[str, Any], facts: Facts) -> None:
        role = string_of(message.get("role")) or "other"
        content = self._opened(message.get("content"))
        if role == "tool":
            self._result(message.get("tool_call_id"), content, message)
            return
        if role != "assistant":
            self.chat.say(role, content, facts, id=message.get("id"))
            return
        parts = content if type(content) is list else []
        server_calls = [part for part in parts if _is_server_call(part)]
        said = [part for part in parts if not _is_server_call(part)] if server_calls else content
        calls = [*calls_of({"tool_calls": server_calls}), *calls_of({**message, "content": None})]
        starts = Facts(started_at=facts.ended_at)
        if facts is NO_FACTS and self._is_written(message):
            self.chat.say(PROGRAM, said or None, tool_calls=[], id=message.get("id"))
            for call in calls:
                self.chat.ask(call)
        else:
            self.chat.answer(said, calls, facts, of_calls=starts, id=message.get("id"))
        for part in server_calls:
            self._result(part.get("id"), part.get("result"), part)

    def _is_written(self, message: dict[str, Any]) -> bool:
        """Return whether an answer without an event was written by a person, or by the author of the input, not a model."""
        source, name = message.get("source"), id_of(message.get("id"))
        is_generated = (
            source == _GENERATED
            or message.get("model") is not None
            or (name is not None and name in self._of_models)
        )
        return source == _INPUT or (bool(self._events) and not is_generated)

    def _result(self, call_id: Any, content: Any, recorded: dict[str, Any]) -> None:
        error = recorded.get("error") or recorded.get("tool_error")  # the name in logs of 2024
        name = recorded.get("function", recorded.get("name"))
        self.chat.result(call_id, content, Facts(error=error, ended_at=_end(recorded)), name)

    def _tool(self, event: dict[str, Any]) -> None:
        """Add the result of a call that is not in the conversation, such as a sub-agent's."""
        call_id = id_of(event.get("id"))
        if call_id in self._results or not self.chat.has_call(call_id):
            return
        if not self.chat.is_answered(call_id):
            self._result(call_id, self._opened(event.get("result")), event)

    def _opened(self, content: Any) -> Any:
        """Return content with references replaced by the attachments' texts."""
        if type(content) is str and content.startswith(_REFERENCES):
            return self._held.get(content.partition("://")[2], content)
        if type(content) is not list:
            return content
        return [
            {**part, "text": self._opened(part["text"])}
            if type(part) is dict and type(part.get("text")) is str
            else part
            for part in content
        ]


def _answer(output: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a model's output."""
    choices = objects_of(output.get("choices"))
    return object_of(choices[0].get("message")) if choices else {}


def _answer_ids(events: Sequence[dict[str, Any]]) -> Iterator[str]:
    for event, _ in _flattened(events):
        if event.get("event") == "model":
            name = id_of(_answer(object_of(event.get("output"))).get("id"))
            if name is not None:
                yield name


def _with_removed_calls(message: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return a message with all calls of the model's answer: `react()` removes those of its submit tool."""
    kept = objects_of(message.get("tool_calls"))
    ids = {id_of(call.get("id")) for call in kept}
    calls = objects_of(answer.get("tool_calls"))
    removed = [call for call in calls if id_of(call.get("id")) not in ids]
    return {**message, "tool_calls": [*kept, *removed]} if removed else message


def _is_server_call(part: Any) -> bool:
    return type(part) is dict and part.get("type") == "tool_use"


def _next_answers(messages: Sequence[dict[str, Any]]) -> list[int | None]:
    """Return for each index the first message from there on that is an answer, and not of the input."""
    found: list[int | None] = [None] * (len(messages) + 1)
    for index in reversed(range(len(messages))):
        message = messages[index]
        is_answer = message.get("role") == "assistant" and message.get("source") != _INPUT
        found[index] = index if is_answer else found[index + 1]
    return found


def _end(event: dict[str, Any]) -> int | None:
    return time_of(event.get("completed"))


def _flattened(events: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield events, including those inside tools and subtasks, each with whether it belongs to a scorer."""
    scoring: set[str | None] = set()  #: IDs of the spans of scorers
    steps = 0  #: number of open steps of scorers, in logs without spans
    pending = list(reversed(events))
    while pending:
        event = pending.pop()
        kind = event.get("event")
        if kind == "span_begin" and (
            word_of(event.get("type")) in _SCORING or id_of(event.get("parent_id")) in scoring
        ):
            scoring.add(id_of(event.get("id")) or "")
        elif kind == "step" and word_of(event.get("type")) in _SCORING:
            steps += 1 if event.get("action") == "begin" else -1
        span = id_of(event.get("span_id"))
        yield event, steps > 0 or (span is not None and span in scoring)
        pending += reversed(objects_of(event.get("events")))


def _usage(value: Any) -> Usage | None:
    recorded = object_of(value)
    sent, received, total, cached, written = (count_of(recorded.get(name)) for name in _COUNTS)
    thought = count_of(recorded.get("reasoning_tokens"))
    if thought and total is not None and total == (sent or 0) + (received or 0) + thought:
        received = (received or 0) + thought  # Gemini's output excludes them
    # Some providers exclude cached tokens from the input.
    sent = input_with_caches(sent, received, total, (cached or 0) + (written or 0), is_apart=False)
    return counted(usage_of(sent, received, total, cached, written or None))


def _total(sample: dict[str, Any], scorers: Sequence[Usage | None]) -> Usage | None:
    """Return a sample's total usage without that of its scorers."""
    usages = [_usage(recorded) for recorded in object_of(sample.get("model_usage")).values()]
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    others = [usage for usage in scorers if usage is not None]
    sent, received, total, cached = (
        _less([getattr(usage, name) for usage in known], [getattr(u, name) for u in others])
        for name in ("input_tokens", "output_tokens", "total", "cached_tokens")
    )
    return counted(usage_of(sent, received, total, cached))


def _less(counts: list[int | None], others: list[int | None]) -> int | None:
    if None in counts:
        return None
    return max(0, sum(count or 0 for count in counts) - sum(count or 0 for count in others))


IMPORTER = Importer(
    id="inspect",
    name="Inspect logs",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "id and epoch of the sample: 1/2 for epoch 2"),
        (
            "id of a message, of a tool call",
            "id, tool_calls[].id; also of calls that only the answer of the model event, or the output, has",
        ),
        (
            "type",
            "role: assistant is llm, each of its calls is tool; one of the input, or with neither model, source nor event, is other",
        ),
        ("name, arguments", "tool_calls[].function and arguments; a tool_use in the content"),
        ("output", "content; of a tool call, the content of its tool message, or of its event"),
        ("error", "error of the tool message; error of a model event"),
        ("model", "output.model of the model event"),
        ("finish_reason", "stop_reason in output.choices of the model event"),
        ("usage", "output.usage of the model event; of the run model_usage, without scorers"),
        ("started_at, ended_at", "timestamp and completed of the events"),
        ("tools", "tools of the model events"),
        ("metadata", "eval.task, status, uuid, error, limit, total_time, and the scores"),
    ),
    tried_on="real logs of Inspect from 2024 and 2025, .json and .eval; samples with tools are synthetic",
    lacks="cost; what scorers and sandboxes did",
)
