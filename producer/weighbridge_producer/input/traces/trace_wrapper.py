"""A case for each trace, with the id and the metadata that the trace has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES, NAME_LIMIT
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.text import encodable_json
from weighbridge.traces.formats.batch_results import is_batch_result
from weighbridge.traces.formats.inspect_log import sample_id
from weighbridge.traces.split import id_by_plug_in
from weighbridge_producer.input.duplicates import Duplicate, DuplicateIndex
from weighbridge_producer.input.source_lines import SourceLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ID_KEYS = ("custom_id", "id", "trace_id", "traceId", "session_id", "conversation_id")
_MANY_DIGITS = b"0" * 19
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
#: An id of a trace or span as an integer beyond 64 bits, which some libraries write and lines may not have.
_LARGE_ID = re.compile(
    rb'("(?:trace_id|span_id|parent_id|traceId|spanId|parentSpanId)"\s{0,99}:\s{0,99})([1-9][0-9]{18,38})(?![0-9.eE])'
)


class NamedLine(msgspec.Struct):
    """The fields of a line that decide whether it is a case, and what it is called."""

    custom_id: Any = msgspec.UNSET
    inputs: msgspec.Raw = msgspec.Raw()
    id: Any = None
    trace_id: Any = None
    traceId: Any = None  # noqa: N815 - the name in JSON
    session_id: Any = None
    conversation_id: Any = None
    run_type: Any = None
    op_name: Any = None
    epoch: Any = None
    input: msgspec.Raw = msgspec.Raw()
    messages: msgspec.Raw = msgspec.Raw()
    target: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()


Bare = NamedLine | list[msgspec.Raw]  #: an object or an array
named_line = msgspec.json.Decoder(Bare)


class TraceWrapper:
    """Converts the traces of a file to cases with unique ids.

    `ids` are the ids in earlier files of the same input. A case from one of several files names its file in its metadata,
    unless these have a `file` of their own. `on_empty_sessions` is called with numbers of sessions that are left out.
    """

    def __init__(
        self,
        name: str,
        ids: DuplicateIndex,
        on_empty_sessions: Callable[[int], None],
        *,
        is_one_of_several: bool,
        file: str = "",
    ) -> None:
        self.name = name
        self._file = file or name
        self.is_one_of_several = is_one_of_several
        self._ids = ids
        self.on_empty_sessions = on_empty_sessions

    def of_process(self, process: str) -> TraceWrapper:
        """Return the wrapper for the lines of one process in the file, if the process has a name."""
        if not process:
            return self
        name = f"{self.name}:{process}"
        several = self.is_one_of_several
        return TraceWrapper(
            *(name, self._ids, self.on_empty_sessions), is_one_of_several=several, file=self._file
        )

    def lines(self, lines: Iterator[SourceLine], first: int) -> Iterator[SourceLine]:
        """Convert the trace on each line to a case; a line without one is passed on, to become an error."""
        for number, line in enumerate(lines, start=first):
            raw = line.raw.strip(JSON_SPACE)
            bare = bare_trace(raw) if raw and not line.fault else None
            if bare is None and not line.fault and (mended := encodable_json(raw)) is not raw:
                raw, bare = mended, bare_trace(mended)
            if bare is None:
                yield line
            else:
                where = f"{self.name}:{number}"
                yield self.case(raw, own_id_of(bare, raw), where, line.size, metadata_of(bare))

    def case(
        self, trace: bytes, own_id: str | None, location: str, size: int, metadata: bytes = b""
    ) -> SourceLine:
        """Return a line with the case for a trace; `size` is its number of input bytes, and `metadata` a JSON object."""
        trace = with_ids_as_text(trace)
        own_id = own_id if own_id and _is_name(own_id) else None
        custom_id = own_id or _fitting(location)
        file = self._file
        # Different traces may have the same id; a repeated trace is one job, also if it is in several files.
        if own_id:
            claim = self._ids.claim(own_id, trace, file)
            if claim is Duplicate.CONFLICT:
                custom_id = _fitting(f"{own_id} ({location})")
            elif claim is Duplicate.REPEAT:
                file = self._ids.first_file(own_id)
        if self.is_one_of_several:
            metadata = _with_file(metadata, file)
        more = b',"metadata":%b' % metadata if metadata else b""
        case = b'{"custom_id":%b,"inputs":{"trace":%b}%b}\n' % (
            orjson.dumps(custom_id),
            trace,
            more,
        )
        return SourceLine(case, None, size, custom_id=custom_id)


def value_of(raw: bytes) -> Any:
    """Return the value of JSON that may be of a trace, with lone surrogates as U+FFFD; raise ValueError for other text."""
    try:
        return orjson.loads(raw)
    except ValueError:
        mended = encodable_json(raw)
        if mended is raw:
            raise
    return orjson.loads(mended)


def with_ids_as_text(raw: bytes) -> bytes:
    """Return a trace with the large integers that are ids of traces or spans as strings."""
    if _MANY_DIGITS not in raw.translate(_DIGITS_AS_ZEROS):
        return raw
    return _LARGE_ID.sub(rb'\1"\2"', raw)


def bare_trace(raw: bytes) -> Bare | None:
    """Return the trace on a line; None if the line is a case, or neither an object nor an array."""
    try:
        found: Bare = named_line.decode(raw)
    except DAMAGED_DATA:
        return None
    if not isinstance(found, NamedLine):
        return found
    if found.custom_id is not msgspec.UNSET:
        return found if not found.inputs and _has_batch_result(raw) else None
    is_record = found.run_type is not None or found.op_name is not None
    return None if found.inputs and not is_record else found


def _has_batch_result(raw: bytes) -> bool:
    try:
        return is_batch_result(orjson.loads(raw))
    except ValueError:
        return False


def metadata_of(bare: Bare) -> bytes:
    """Return the metadata that a trace has, if a case may have them; empty otherwise."""
    held = b"" if isinstance(bare, list) else bytes(bare.metadata)
    is_object = held[:1] == b"{" and held[1:-1].strip(JSON_SPACE)
    return held if is_object and len(held) <= METADATA_LIMIT_BYTES else b""


def own_id_of(bare: Bare, raw: bytes) -> str | None:
    """Return the trace's own id; of a result of a batch the one that its request was given, of Inspect's sample that of the epoch."""
    if isinstance(bare, NamedLine) and _is_inspect_sample(bare):
        return sample_id(bare.id, bare.epoch)
    ids = () if isinstance(bare, list) else (getattr(bare, key) for key in _ID_KEYS)
    own_id = next((own for own in ids if type(own) is str and own), None)
    return own_id or id_by_plug_in(raw)


def _is_inspect_sample(bare: NamedLine) -> bool:
    has_messages = bytes(bare.messages).startswith(b"[")
    return type(bare.epoch) is int and has_messages and bool(bare.input and bare.target)


def _with_file(metadata: bytes, name: str) -> bytes:
    """Return metadata, as a JSON object with entries or empty, with the name of the file, unless they have a `file`."""
    if b'"file"' in metadata:
        return metadata
    more = b"," + metadata.lstrip(JSON_SPACE)[1:] if metadata else b"}"
    added = b'{"file":%b%b' % (orjson.dumps(_fitting(name)), more)
    return added if len(added) <= METADATA_LIMIT_BYTES else metadata


def _is_name(text: str) -> bool:
    return 0 < len(text) <= NAME_LIMIT and text.isprintable()


def _fitting(name: str) -> str:
    """Return a name in the form of a custom_id, shortened to its end if it is too long."""
    return "".join(c if c.isprintable() else "?" for c in name)[-NAME_LIMIT:]
