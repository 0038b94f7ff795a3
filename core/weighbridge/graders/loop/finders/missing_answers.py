"""Model calls that bring no answer, again and again: they fail, or are cut off before they say or do anything."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.loop.history.call_kinds import is_read_only
from weighbridge.graders.loop.history.message_kinds import only_prompts
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
_BEGUN_CHARACTERS = 600  #: a longer text is an answer, although it was cut off
_tells_of_wish = occurs(r"abort|cancel|interrupt|stopped by")
_CHARACTERS = 600  #: of an error that are read
_COMPARED_CHARACTERS = 400  #: of these without numbers that are compared
#: OpenTelemetry's words for an answer that reached the output limit, and for one that is whole.
_CUT_OFF, _WHOLE = "length", "stop"
_CONTENT_CHARACTERS = 400  #: a longer text is content, which the next answer may continue
_LEAST_TOKENS = 100  #: a lower limit is set on purpose, as for a yes or no
_BETWEEN = 6  #: maximum other answers between two cut-off ones
_PROMPT_CHARACTERS = 20  #: a longer message, or a question, is a request
_LABEL_CHARACTERS = 20  #: a shorter answer, with unknown tokens, may be a label


def failed_answers(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find `3 * max_repeats + 2` model calls in a row that give no answer and fail with one error, except for its numbers and ids.

    No tool is called and no new request made in between, and their inputs, if they are recorded, are equal. Retries of which
    the last gets an answer have waited for the service.
    """
    if not any(turn.step.error for turn in turns):  # as in most runs
        return
    failures = [*map(_failure, turns)]
    yield from _rows_of_one_error(turns, failures, limits)
    yield from _unanswered_requests(turns, failures, limits)


def _rows_of_one_error(
    turns: Sequence[Message], failures: Sequence[tuple[Any, ...]], limits: Limits
) -> Iterator[Finding]:
    least = Rule.FAILED_ANSWERS.least(limits)
    for failure, indices in groupby(range(len(turns)), failures.__getitem__):
        found = tuple(indices)
        end = found[-1] + 1
        is_answered = end < len(turns) and _goes_on(turns[end - 1], turns[end])
        if failure and len(found) >= least and not is_answered:
            yield Finding.by(Rule.FAILED_ANSWERS, found, least)


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


def _is_retry_note(reply: str) -> bool:
    """Return whether a client says between two model calls that it tries again."""
    return _tells_of_retry(reply[:_NOTE_CHARACTERS])


def _goes_on(failed: Message, following: Message) -> bool:
    """Return whether the model answers after a failed call, to the same request, and without a new prompt between."""
    is_answer = bool(following.text or following.calls)
    is_retried = not failed.reply or _is_retry_note(failed.reply)
    return is_answer and is_retried and failed.requests_before == following.requests_before


def _is_cut_off(turn: Message) -> bool:
    """Return whether an error ended an answer at its beginning, other than by the user's wish."""
    is_begun = len(turn.text) <= _BEGUN_CHARACTERS and turn.step.finish_reason != _WHOLE
    return is_begun and not _tells_of_wish(str(turn.step.error)[:_CHARACTERS])


def _failure(turn: Message) -> tuple[Any, ...]:
    """Return what is equal for model calls that fail the same way; empty for one that gave an answer."""
    error = turn.step.error
    if turn.calls or not error or (turn.text and not _is_cut_off(turn)):
        return ()
    said = _NUMBER_OR_ID.sub("#", str(error)[:_CHARACTERS])[:_COMPARED_CHARACTERS]
    given = turn.step.input
    return said, turn.calls_before, turn.requests_before, given and canonical(given)


def cut_off_answers(turns: Sequence[Message], limits: Limits) -> Iterator[Finding]:
    """Find more than `max_repeats` answers that reached the output limit before they said or did anything of use.

    Between two of them lie no new request, and at most `_BETWEEN` other answers, each with calls that only read or fail, or
    with nothing at all.
    """
    least = Rule.CUT_OFF_ANSWERS.least(limits)
    if sum(turn.step.finish_reason == _CUT_OFF for turn in turns) < least:  # as in most runs
        return
    if not any(turn.text for turn in turns):  # texts are not recorded
        return
    row: list[int] = []
    for index, turn in enumerate(turns):
        is_lost = turn.step.finish_reason == _CUT_OFF and _is_lost(turn)
        is_near = bool(row) and index - row[-1] <= _BETWEEN + 1 and _is_same_request(turns, index)
        if not (is_near and (is_lost or _brings_nothing(turn))):
            yield from _found(row, limits)
            row = []
        if is_lost:
            row.append(index)
    yield from _found(row, limits)


def _found(row: Sequence[int], limits: Limits) -> Iterator[Finding]:
    least = Rule.CUT_OFF_ANSWERS.least(limits)
    if len(row) >= least:
        yield Finding.by(Rule.CUT_OFF_ANSWERS, row, least)


def _is_lost(turn: Message) -> bool:
    """Return whether an answer that was cut off has neither content nor a call that had an effect."""
    return (
        len(turn.text) <= _CONTENT_CHARACTERS
        and _has_more(turn)
        and all(call.result.has_failed for call in turn.calls)
    )


def _has_more(turn: Message) -> bool:
    """Return whether an answer has tokens that its text does not have, as far as is known: a low limit cuts off short answers."""
    used = _output_tokens(turn)
    if used is not None:
        return used >= max(_LEAST_TOKENS, len(turn.text))
    return not turn.text or bool(turn.calls) or len(turn.text) > _LABEL_CHARACTERS


def _output_tokens(turn: Message) -> int | None:
    return turn.step.usage.output_tokens if turn.step.usage else None


def _brings_nothing(turn: Message) -> bool:
    """Return whether an answer has only calls that read or fail, or nothing at all."""
    if not turn.calls:
        return not turn.text.strip()
    return all(is_read_only(call) or call.result.has_failed for call in turn.calls)


def _is_same_request(turns: Sequence[Message], index: int) -> bool:
    """Return whether no more than a prompt lies between an answer and the one before it."""
    before, turn = turns[index - 1], turns[index]
    if turn.step.input != before.step.input:  # items of a batch
        return False
    requests = turn.requests_before - before.requests_before
    if requests != 1:
        return requests == 0
    # What a short answer without tokens is to, may be an item to classify.
    is_sure = not turn.text or _output_tokens(turn) is not None
    reply = before.reply
    is_short = 0 < len(reply) <= _PROMPT_CHARACTERS and "?" not in reply
    return (is_short and is_sure) or only_prompts(reply)
