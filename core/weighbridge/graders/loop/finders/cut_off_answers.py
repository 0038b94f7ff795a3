"""Answers that are cut off at the output limit again and again, so that nothing is left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import is_read_only
from weighbridge.graders.loop.history.framework_messages import only_prompts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

_CUT_OFF = "length"  #: OpenTelemetry's word for an answer that reached the output limit
_CONTENT_CHARACTERS = 400  #: a longer text is content, which the next answer may continue
_LEAST_TOKENS = 100  #: a lower limit is set on purpose, as for a yes or no
_BETWEEN = 6  #: maximum other answers between two cut-off ones
_PROMPT_CHARACTERS = 20  #: a longer message, or a question, is a request
_LABEL_CHARACTERS = 20  #: a shorter answer, with unknown tokens, may be a label


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
