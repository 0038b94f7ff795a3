"""What logs have before the JSON of a line: a time, a level, a logger's name, a container, a process; and what containers' logs wrap lines in."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from weighbridge.traces.fields import object_of, string_of

_GAP = rb"(?:[ \t]+|(?=\r?\n|\Z))"
_CLOCK = rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:[ ]?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_TIME = rb"[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?%b[\])]?:?[ \t]+" % _CLOCK
_SYSLOG_TIME = rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,100} "  #: with the host's name
#: As `kubectl logs --prefix` and many programs write it.
_TAG = rb"\[\w[\w.:/@$-]{0,100}\]%b" % _GAP
_CONTAINER = rb"[A-Za-z][\w.-]{0,100}[ \t]*\|%b" % _GAP  #: of `docker compose logs`
_LEVEL_NAMES = rb"(?i:TRACE|DEBUG|INFO|SUCCESS|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)"
_LEVEL = rb"[\[(]?%b[\])]?(?:[ \t]*[:|-])?[ \t]+" % _LEVEL_NAMES
_BASIC = rb"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.-]{1,100}:"  #: of Python's basicConfig
_PROCESS = rb"[\w./@$-]{1,100}\[[\w.-]{1,40}\]:[ \t]+"  #: of syslog and journald
_LOGGER = rb"[\w./@$-]{1,100}:[ \t]+"
#: a logger's name, as Python's guide has it
_DASHED = rb"(?:[\w.:@/$<>\[\]-]{1,100}[ \t]+)?-[ \t]+"
_BAR = rb"\|[ \t]+"
_HOST = rb"[\w.-]{1,100} (?=[\w./@-]{1,100}(?:\[[\w.-]{1,40}\])?:[ \t])"
_STREAM = rb"[\w.$\[\]@-]{0,200}/[\w.$\[\]/@-]{1,200}[ \t]+(?=[\[{])"  #: of `aws logs tail`
_REQUEST = rb"[0-9a-f]{8}-[0-9a-f-]{27}[ \t]+"  #: of AWS Lambda
_FIRST = {
    "time": _TIME,
    "host": _SYSLOG_TIME,
    "level": _LEVEL,
    "first_tag": _TAG,
    "basic": _BASIC,
    "container": _CONTAINER,
}
_FURTHER = {
    "time": _TIME,
    "level": _LEVEL,
    "tag": _TAG,
    "basic": _BASIC,
    "process": _PROCESS,
    "request": _REQUEST,
    "container": _CONTAINER,
    "bar": _BAR,
    "host": _HOST,
    "dashed": _DASHED,
    "logger": _LOGGER,
    "stream": _STREAM,
}
_PARTS_LIMIT = 7
_PREFIX = re.compile(
    rb"(?>%b)(?>%b){0,%d}"
    % (b"|".join(_FIRST.values()), b"|".join(_FURTHER.values()), _PARTS_LIMIT - 1)
)
_JSON = re.compile(rb"\{|\[[ \t]{0,99}\{")
_TAGGED = re.compile(rb"\[[A-Za-z][\w.:/@$-]{0,100}\][ \t]+\S")


def _one_of(parts: dict[str, bytes]) -> re.Pattern[bytes]:
    """Return a pattern of one part of a prefix, whose kind is the name of the group."""
    return re.compile(b"|".join(b"(?P<%b>%b)" % (kind.encode(), parts[kind]) for kind in parts))


_FIRST_PART, _FURTHER_PART = _one_of(_FIRST), _one_of(_FURTHER)
#: Parts that are names of processes, containers or hosts; a tag only if it is the first, as `kubectl` and `concurrently` write it.
_OF_PROCESSES = frozenset({"first_tag", "container", "process", "host", "stream"})
_OF_THREADS = frozenset({"tag", "request", "basic", "dashed", "logger"})
_LOGGERS = frozenset({"basic", "dashed", "logger"})
#: A logger's name with a number, as workers have it; not one that ends with the line in a file of source code.
_numbered = re.compile(r"(?!.*:\d+\Z)\D*\d.*").fullmatch
_of_one_process = re.compile(rf"(?i:{_LEVEL_NAMES.decode()}|stdout|stderr|out|err)").fullmatch
#: A line of the Container Runtime Interface: of the stream, a part (P) or the end (F) of a longer line.
_CRI = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([FP]) )"
)
_STREAMS = frozenset({"stdout", "stderr"})
_ID_CHARACTERS = 12  #: of a container's id, as Docker shows it
#: Docker divides longer lines; a shorter one without its end is the last that a container wrote.
_DOCKER_LINE_BYTES = 16 * 1024
_BESIDE_STREAM = frozenset({"time", "kubernetes", "docker"})  #: one of them a wrapped line has


class LogLine(NamedTuple):
    """A line of a log, without what stands before it."""

    text: bytes
    prefix: bytes
    process: tuple[str, ...] = ()  #: names of the container, process or host that wrote it
    thread: tuple[str, ...] = ()  #: further names, which may be those of workers or threads
    stream: str = ""  #: of a container, if lines may be in parts
    is_part: bool = False  #: True for a part of a line that goes on in the next one of the stream
    may_be_last: bool = False  #: True for a part that is shorter than those of longer lines
    #: Number of lines of text before this one, if it ends with the first bracket of a document on many lines.
    texts_before: int | None = None

    @property
    def has_json(self) -> bool:
        """True if the text begins like an object, or a list of them."""
        return _JSON.match(self.text) is not None


def begins_with_tag(raw: bytes) -> bool:
    """Return whether a line begins with a word in brackets, which is no array of JSON."""
    return _TAGGED.match(raw) is not None


def log_line(raw: bytes) -> LogLine | None:
    """Return a line of a log in its parts; None if it begins with nothing that logs have before a line."""
    wrapped = wrapped_line(raw)
    return _of_prefix(raw) if wrapped is None else without_prefix(wrapped)


def wrapped_line(raw: bytes) -> LogLine | None:
    """Return the line, or the part of one, that a container's log has wrapped; None for other lines."""
    return _of_docker(raw) or _of_cri(raw)


def without_prefix(wrapped: LogLine) -> LogLine:
    """Return a wrapped line without what stands before its JSON; a part of a line is unchanged."""
    inner = None if wrapped.is_part else _of_prefix(wrapped.text)
    if inner is None:
        return wrapped
    process = wrapped.process + inner.process
    return wrapped._replace(text=inner.text, process=process, thread=inner.thread)


def _of_prefix(raw: bytes) -> LogLine | None:
    found = _PREFIX.match(raw)
    return found and LogLine(raw[found.end() :], found[0], *_names_in(raw, found.end()))


def _names_in(raw: bytes, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a prefix names: all but times and levels, first that of a process, then what may be of a thread."""
    process: list[str] = []
    thread: list[str] = []
    place, pattern = 0, _FIRST_PART
    while place < end and (part := pattern.match(raw, place)):
        kind, text = part.lastgroup or "", part[0].decode(errors="replace").strip()
        place, pattern = part.end(), _FURTHER_PART
        if kind in _OF_PROCESSES:
            name = _name_of(kind, text)
            process += [] if _of_one_process(name) else [name]
        elif kind in _OF_THREADS:
            name = _name_of(kind, text)
            is_named = name and not _of_one_process(name)
            thread += [name] if is_named and (kind not in _LOGGERS or _numbered(name)) else []
    return tuple(process), tuple(thread)


def _name_of(kind: str, part: str) -> str:
    if kind in {"first_tag", "tag"}:
        return part[1:-1]
    if kind == "host":
        return part.rpartition(" ")[2]
    if kind == "basic":
        return part.split(":")[1]
    return part.rstrip("|:- \t")


def _of_cri(raw: bytes) -> LogLine | None:
    found = _CRI.match(raw)
    if found is None:
        return None
    text, is_part = raw[found.end() :], found[3] == b"P"
    return LogLine(
        text.rstrip(b"\r\n") if is_part else text,
        found[1],
        stream=found[2].decode(),
        is_part=is_part,
    )


def _of_docker(raw: bytes) -> LogLine | None:
    """Return the line in an object of Docker's `json-file` driver, or of Fluent Bit's records; None for other lines."""
    if not (raw.startswith(b"{") and b'"log"' in raw and b'"stream"' in raw):
        return None
    try:
        value = object_of(orjson.loads(raw))
    except ValueError:
        return None
    text, stream = value.get("log"), value.get("stream")
    if type(text) is not str or type(stream) is not str or stream not in _STREAMS:
        return None
    if _BESIDE_STREAM.isdisjoint(value):
        return None
    place = object_of(value.get("kubernetes"))
    # Docker writes the line's end into its last part; Fluent Bit removes it.
    is_part = not text.endswith("\n") and not place and "docker" not in value
    line = text.removesuffix("\n").encode(errors="replace")
    return LogLine(
        line if is_part else line + b"\n",
        b'{"log":',
        _container_of(value, place),
        stream=stream,
        is_part=is_part,
        may_be_last=is_part and len(line) < _DOCKER_LINE_BYTES,
    )


def _container_of(value: dict[str, Any], place: dict[str, Any]) -> tuple[str, ...]:
    """Return what names the container of a wrapped line."""
    pod = "/".join(filter(None, map(string_of, map(place.get, ("pod_name", "container_name")))))
    docker = object_of(value.get("docker")).get("container_id")
    attributes = object_of(value.get("attrs"))
    ids = [string_of(each) for each in (value.get("container_id"), place.get("docker_id"), docker)]
    names = [value.get("container_name"), value.get("host"), value.get("hostname")]
    names += [place.get("namespace_name"), place.get("host"), *attributes.values()]
    told = [pod, *map(string_of, names), *(each and each[:_ID_CHARACTERS] for each in ids)]
    return tuple(each.strip("/") for each in told if each)
