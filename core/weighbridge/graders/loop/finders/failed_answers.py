"""Model calls that fail the same way again and again: a loop without an answer and without a call."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.loop.history.framework_messages import only_prompts
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_NUMBER_OR_ID = re.compile(r"[\w-]{0,80}\d[\w-]{0,80}")  #: an id has a digit
_NOTE_CHARACTERS = 120  #: of what is said between, which may tell of a retry
_tells_of_retry = occurs(
    r"\b(?:re-?try(?:ing)?|retries|attempts?|switch(?:ing|ed)?|fall(?:ing)?[ -]?back|back(?:ing)?[ -]?off|waiting|sleeping|reconnect\w*)\b"
)
_CHARACTERS = 600  #: of an error that are read
_COMPARED_CHARACTERS = 400  #: of these without numbers that are compared
#: by the number of different errors
_RULES = {
    1: Rule.FAILED_ANSWERS,
    2: Rule.FAILED_ANSWERS_IN_TURNS,
}


def failed_answers(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find `3 * max_repeats + 2` model calls in a row that give no answer and fail with one error, except for its numbers and ids.

    With two errors in turns, as from a model and the one in its place, it is `6 * max_repeats + 1`. No tool is called and no new
    request made in between, and their inputs, if they are recorded, are equal. Retries of which the last gets an answer
    have waited for the service.
    """
    if not any(turn.step.error for turn in turns):  # as in most runs
        return
    failures = [*map(_failure, turns)]
    yield from _found(turns, [(failure, failure[:1]) for failure in failures], limits)
    yield from _found(turns, [(failure[1:], failure[:1]) for failure in failures], limits)
    yield from _unanswered_requests(turns, failures, limits)


def _unanswered_requests(
    turns: Sequence[Message], failures: Sequence[tuple[Any, ...]], limits: Limits
) -> Iterator[Finding]:
    """Find more than `3 * max_repeats` model calls in a row, for several requests, that give no answer and fail with errors of before.

    With twice as many it may be one request, and the last may get an answer.
    """
    rule = Rule.UNANSWERED_REQUESTS
    least, least_of_one = (rule.least(limits, other=is_one) for is_one in (False, True))
    for failed in _rows_without_answer(turns, failures):
        last, end = turns[failed[-1]], failed[-1] + 1
        is_long = len(failed) >= least_of_one
        is_answered = not is_long and end < len(turns) and _goes_on(last, turns[end])
        row = [
            index
            for index in failed
            if not (is_answered and turns[index].requests_before == last.requests_before)
        ]
        errors = {failures[index][0] for index in row}
        are_several = _answer_several([turns[index] for index in row])
        if (is_long or are_several) and len(row) - len(errors) >= least - 1:
            yield Finding.by(rule, row, least if are_several else least_of_one)


def _answer_several(row: Sequence[Message]) -> bool:
    """Return whether model calls are for several requests, of which each may be given to several models in turn."""
    said = {
        _NUMBER_OR_ID.sub("#", turn.reply[:_CHARACTERS])
        for turn in row[:-1]
        if turn.reply and not (_is_retry_note(turn.reply) or only_prompts(turn.reply))
    }
    return len(said) > 1 or len({turn.requests_before for turn in row}) > 1


def _rows_without_answer(
    turns: Sequence[Message], failures: Sequence[tuple[Any, ...]]
) -> Iterator[list[int]]:
    """Yield the rows of failed model calls, of whose inputs nothing is recorded, without a tool call between."""
    calls_before = [
        failure[1] if failure and not turn.step.input else None
        for turn, failure in zip(turns, failures, strict=True)
    ]
    for calls, indices in groupby(range(len(turns)), calls_before.__getitem__):
        if calls is not None:
            yield list(indices)


def _found(
    turns: Sequence[Message], failures: Sequence[tuple[Any, Any]], limits: Limits
) -> Iterator[Finding]:
    """Yield the rows of turns with equal failures; each failure is what has to be equal, and the error."""
    for failed, indices in groupby(range(len(turns)), lambda index: failures[index][0]):
        found = tuple(indices)
        errors = {failures[index][1] for index in found if failed}
        is_answered = found[-1] + 1 < len(turns) and _goes_on(
            turns[found[-1]], turns[found[-1] + 1]
        )
        rule = _RULES.get(len(errors))
        if rule and len(found) >= rule.least(limits) and not is_answered:
            yield Finding.by(rule, found, rule.least(limits))


def _is_retry_note(reply: str) -> bool:
    """Return whether a client says between two model calls that it tries again."""
    return _tells_of_retry(reply[:_NOTE_CHARACTERS])


def _goes_on(failed: Message, following: Message) -> bool:
    """Return whether the model answers after a failed call, to the same request, and without a new prompt between."""
    is_answer = bool(following.text or following.calls)
    is_retried = not failed.reply or _is_retry_note(failed.reply)
    return is_answer and is_retried and failed.requests_before == following.requests_before


def _failure(turn: Message) -> tuple[Any, ...]:
    """Return what is equal for model calls that fail the same way; empty for one that gave an answer."""
    error = turn.step.error
    if turn.text or turn.calls or not error:
        return ()
    said = _NUMBER_OR_ID.sub("#", str(error)[:_CHARACTERS])[:_COMPARED_CHARACTERS]
    given = turn.step.input
    return said, turn.calls_before, turn.requests_before, given and canonical(given)
