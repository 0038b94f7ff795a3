"""Merging of model calls that two spans record, neither of them inside the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.traces.chat.call_parts import first_of, name_and_arguments
from weighbridge.traces.fields import string_of
from weighbridge.traces.spans.attributes import model_of
from weighbridge.traces.spans.content import outputs_of
from weighbridge.traces.spans.usage import usage_of_span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.traces.spans.attributes import Kind
    from weighbridge.traces.spans.spans import Span

_RESPONSE_IDS = ("gen_ai.response.id", "llm.response.id", "ai.response.id")
#: Suffix of a version in a model's name: a date, or at least three digits, since a name with `-5` may be another model.
_VERSION = re.compile(r"[-@:](?:[0-9]{3,8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}-[0-9]{2,4})")
_COMPARED = 8  #: maximum number of running calls with which a new call is compared


class _Timed(NamedTuple):
    """A model call by its times, sorted so that one which encloses others comes before them."""

    start: int
    minus_end: int
    call: int  #: the index of its span


def merge_twins(
    spans: Sequence[Span],
    kinds: Sequence[Kind],
    outer: dict[int, int | None],
    members: dict[int, list[int]],
) -> None:
    """Merge model calls that overlap in time and have the same parent and response ID, or the same answer from two libraries."""
    _merge_same_responses(spans, kinds, outer, members)
    _merge_same_answers(spans, kinds, members)


def _merge_same_responses(
    spans: Sequence[Span],
    kinds: Sequence[Kind],
    outer: dict[int, int | None],
    members: dict[int, list[int]],
) -> None:
    seen: dict[tuple[int | None, str], int] = {}
    for best in list(members):
        answer = first_of(spans[best].attributes, _RESPONSE_IDS)
        if kinds[best] != "llm" or type(answer) is not str:
            continue
        first = seen.setdefault((outer[best], answer), best)
        if first != best and _overlap(spans[first], spans[best]):
            members[first] += members.pop(best)


def _overlap(one: Span, other: Span) -> bool:
    times = one.started_at, one.ended_at, other.started_at, other.ended_at
    if times[0] is None or times[1] is None or times[2] is None or times[3] is None:
        return True
    return times[0] < times[3] and times[2] < times[1]


def _merge_same_answers(
    spans: Sequence[Span], kinds: Sequence[Kind], members: dict[int, list[int]]
) -> None:
    """Merge a model call with one of another library that encloses it in time and has its answer.

    A framework's instrumentation that sets no context leaves the span of the provider's client at the root of the trace.
    """
    calls = [index for index in members if kinds[index] == "llm"]
    if len({spans[index].scope for index in calls if spans[index].scope}) < 2:
        return
    answers: dict[int, _Answer] = {}
    #: Pairs: a call that encloses another, the library of the other.
    merged: set[tuple[int, str]] = set()
    for inner, enclosing in _enclosed(spans, calls):
        scope = spans[inner].scope
        for best in enclosing:
            if (
                spans[best].scope in {"", scope}
                or not scope
                or (best, scope) in merged
                or best not in members
                or not _may_be_same_call(spans[best], spans[inner])
            ):
                continue
            for index in (best, inner):
                if index not in answers:
                    answers[index] = _answer(spans[index])
            if answers[inner] != _NO_ANSWER and answers[inner] == answers[best]:
                # The provider's client records most, such as the calls' IDs.
                members[best] = members.pop(inner) + members[best]
                merged.add((best, scope))
                break


def _enclosed(spans: Sequence[Span], calls: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield each model call with the calls that enclose it in time, the latest first."""
    timed = []
    for index in calls:
        start, end = spans[index].started_at, spans[index].ended_at
        if start is not None and end is not None:
            timed.append(_Timed(start, -end, index))
    running: list[_Timed] = []
    for inner in sorted(timed):
        running = [other for other in running if other.minus_end <= -inner.start]
        around = [other.call for other in running if other.minus_end <= inner.minus_end]
        if around:
            yield inner.call, around[::-1]
        running = [*running, inner][-_COMPARED:]


def _may_be_same_call(one: Span, other: Span) -> bool:
    """Return whether two spans agree in all facts of a call that both record: the answer's ID, the tokens and the model."""
    return _may_be_same_model(one, other) and all(
        first is None or second is None or first == second
        for first, second in zip(_of_answer(one), _of_answer(other), strict=True)
    )


def _of_answer(span: Span) -> tuple[str | int | None, ...]:
    """Return the ID of a model's answer and its counts of tokens; None for each that a span does not record."""
    answer = string_of(first_of(span.attributes, _RESPONSE_IDS))
    usage = usage_of_span(span)
    if usage is None:
        return answer, None, None, None
    return answer, usage.input_tokens, usage.output_tokens, usage.total


def _may_be_same_model(one: Span, other: Span) -> bool:
    """Return whether the models of two spans may be the same: one name may have the version that answered."""
    short, long = sorted(
        ((model_of(span) or "").rpartition("/")[2] for span in (one, other)), key=len
    )
    return not short or (
        long.startswith(short) and _VERSION.fullmatch(long, len(short)) is not None
    )


class _Answer(NamedTuple):
    """The texts of a model's answer, and its calls without their ids, which not all libraries record."""

    texts: list[str]
    calls: list[tuple[str | None, bytes]]


_NO_ANSWER = _Answer([], [])


def _answer(span: Span) -> _Answer:
    said = [message for message in outputs_of(span) if message.role == "assistant"]
    texts = [text for message in said for text in message.texts if text]
    calls = [name_and_arguments(call) for message in said for call in message.calls]
    return _Answer(texts, calls)
