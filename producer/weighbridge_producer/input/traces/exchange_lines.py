"""Logs with a request and its response on each line: a case for each conversation, whatever the other lines are."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.jobs.line import JSON_SPACE
from weighbridge.text import encodable_json
from weighbridge.traces.chat.exchange_messages import is_exchange
from weighbridge.traces.formats.request_log_calls import by_conversation, exchanged
from weighbridge_producer.input.source_lines import HeldLines, SourceLine
from weighbridge_producer.input.traces.documents import DOCUMENT_LIMIT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.traces.formats.request_log_calls import LoggedCall
    from weighbridge_producer.input.traces.trace_wrapper import TraceWrapper


def exchange_cases(
    lines: Iterator[SourceLine], first: int, wrapper: TraceWrapper
) -> Iterator[SourceLine]:
    """Yield a case for each conversation that has several lines, in place of its first, and for any other line its own.

    If the lines have more bytes than a document may have, each of them is a case.
    """
    held = HeldLines()
    size = 0
    for line in lines:
        held.add(line)
        size += line.size
        if size > DOCUMENT_LIMIT_BYTES:
            yield from wrapper.lines(chain(held.lines(), lines), first)
            return
    conversations = _conversations(held)
    start_of = {at: start for start, (places, _) in conversations.items() for at in places}
    sizes = dict.fromkeys(conversations, 0)
    is_whole = len(conversations) == 1
    for at, line in enumerate(held.lines()):
        if at in start_of:
            sizes[start_of[at]] += line.size
        elif line.fault or line.raw.strip(JSON_SPACE):
            is_whole = False
    for at, line in enumerate(held.lines()):
        if at in conversations:
            where = wrapper.name if is_whole else f"{wrapper.name}:{first + at}"
            yield wrapper.case(conversations.pop(at)[1], None, where, sizes[at])
        elif at not in start_of:
            yield from wrapper.lines(iter([line]), first + at)


def _conversations(held: HeldLines) -> dict[int, tuple[list[int], bytes]]:
    """Return the conversations of several lines by the place of their first line, each with its places and as JSON."""
    several = [own for own in by_conversation(_exchanges(held.lines())) if len(own) > 1]
    wanted = {at for own in several for at in own}
    # The original JSON, because graders check numbers and repeated keys.
    texts = {at: _text_in(line) for at, line in enumerate(held.lines()) if at in wanted}
    return {min(own): (own, b"[%b]" % b",".join(map(texts.pop, own))) for own in several}


def _exchanges(lines: Iterable[SourceLine]) -> Iterator[tuple[LoggedCall, int]]:
    """Yield the call of each line that holds an exchange, with its place."""
    for at, line in enumerate(lines):
        value = _value_in(_text_in(line))
        if is_exchange(value):
            yield exchanged(value), at


def _text_in(line: SourceLine) -> bytes:
    return b"" if line.fault else encodable_json(line.raw.strip(JSON_SPACE))


def _value_in(text: bytes) -> Any:
    """Return the value in a text; None for one that is not JSON."""
    try:
        return orjson.loads(text)
    except ValueError:
        return None
