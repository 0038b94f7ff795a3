"""Lines of a log of sessions, divided by the processes that wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.fields import object_of
from weighbridge.traces.split import opens_session
from weighbridge_producer.input.source_lines import SourceLine
from weighbridge_producer.input.traces.trace_wrapper import value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_KINDS = ("type", "role", "kind", "event", "_type")  #: fields that tell what a line is
_Names = tuple[str, ...]


def sessions_by_process(lines: Iterable[SourceLine]) -> list[tuple[str, list[SourceLine]]]:
    """Return the lines of each process, with what tells it from the others: nothing, and all lines, if there is one alone.

    The first line that is not read, and whose process is not known, is among those of each.
    """
    every = list(lines)
    logs: dict[_Names, list[SourceLine]] = {
        line.process or (): [] for line in every if not _is_of_any(line)
    }
    logs = logs or {(): []}
    is_marked = False
    for line in every:
        if not _is_of_any(line):
            logs[line.process or ()].append(line)
        elif len(logs) == 1 or (line.is_unread and not is_marked):
            is_marked = True  # one line is enough to make counts lower bounds
            for log in logs.values():
                log.append(line)
    found: list[tuple[_Names, Sequence[SourceLine]]] = []
    for process, log in logs.items():
        found += [((*process, *names), held) for names, held in _by_thread(log)]
    if len(found) == 1:
        return [("", list(map(_alone, every)))]
    in_all = set.intersection(*(set(names) for names, _ in found))
    return [
        (
            "/".join(name for name in names if name not in in_all),
            [_alone(line) for line in log if not _is_blank(line)],
        )
        for names, log in found
    ]


def _is_blank(line: SourceLine) -> bool:
    return not line.raw.strip(JSON_SPACE)


def _is_of_any(line: SourceLine) -> bool:
    return not line.process and (line.is_unread or _is_blank(line))


def _by_thread(lines: Sequence[SourceLine]) -> list[tuple[_Names, Sequence[SourceLine]]]:
    """Return the lines of each thread if several begin like the first one, which shows that each has a session of its own.

    Otherwise the names are those of loggers or threads of one session. The first of other lines, of which it is not known whose they are,
    counts as a line of each session that is not read.
    """
    if len({line.thread for line in lines if not (line.is_unread or _is_blank(line))}) < 2:
        return [((), lines)]
    openings: dict[_Names, Any] = {}
    count = 0
    for line in lines:
        if line.is_unread or _is_blank(line):
            continue
        count += 1
        if openings.get(line.thread) is None:
            openings[line.thread] = _opening(line.raw)
    first = next(filter(None, openings.values()), None)
    begun = [names for names, opening in openings.items() if opening and opening == first]
    if len(begun) < 2 or count < 2 * len(openings):
        return [((), lines)]
    logs: dict[_Names, list[SourceLine]] = {names: [] for names in begun}
    is_marked = False
    for line in lines:
        if line.thread in logs:
            logs[line.thread].append(line)
        elif is_marked or _is_blank(line):
            continue
        elif line.is_unread or _opening(line.raw):
            is_marked = True  # one line is enough to make counts lower bounds
            raw = line.raw if line.is_unread else b"? " + line.raw
            for log in logs.values():
                log.append(SourceLine(raw, line.fault, is_unread=True))
        else:
            logs[begun[0]].append(line)
    return list(logs.items())


def _opening(raw: bytes) -> Any:
    """Return what tells the kind of a line of a session; None for other lines."""
    try:
        value = value_of(raw)
    except ValueError:
        return None
    if not opens_session(value):
        return None
    kinds = [(key, kind) for key in _KINDS if type(kind := object_of(value).get(key)) is str]
    return kinds or sorted(object_of(value)) or None


def _alone(line: SourceLine) -> SourceLine:
    """Return a line as one of a file of its own."""
    return SourceLine(line.raw, line.fault, 0, line.origin, is_unread=line.is_unread)
