"""Input lines, and the encoding of cases given as Python objects as such lines."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import KIB

_BLOCK_LINES = 4_096  #: lines of a document per block
_BLOCK_ROWS = 250  #: lines made of rows per block
_SMALL_LINE_BYTES = 16 * KIB


class SourceLine(msgspec.Struct, gc=False):
    """One unchanged input line with its newline, or a fault in its place; or several, in a `LineBlock`."""

    raw: bytes
    fault: Fault | None = None
    size: int = 0  #: bytes of input
    #: file and line number, if the input has several files; 0 if the fault itself names the line
    origin: tuple[str, int] | None = None
    custom_id: str | None = None  #: if known without parsing the line
    count: int = 1  #: number of lines
    #: Names of the process that wrote it, if it is of a log which several may have written; None for other lines.
    process: tuple[str, ...] | None = None
    thread: tuple[str, ...] = ()  #: further names in the log, which may be those of workers
    is_unread: bool = False  #: True for a line of a log whose JSON is not read; it has a fault

    def lines(self) -> Iterator[SourceLine]:
        """Yield the line; of a block, each of its lines."""
        yield self

    def as_job(self, number: int) -> Line:
        """Return the line in the form for grading, with its number in the input."""
        origins = ((number - 1, *self.origin),) if self.origin else ()
        return Line(number - 1, number, self.raw.rstrip(b"\n"), self.fault, origins)


class LineBlock(SourceLine, gc=False):
    """Several unchanged input lines without faults or origins, each with its newline."""

    sizes: Sequence[int] = ()  #: bytes of input of each line; empty if they are those of the lines
    split: Sequence[bytes] = ()  #: the lines without their newlines, if they are at hand

    @classmethod
    def of(cls, raw: bytes) -> LineBlock:
        """Return the block of some lines."""
        return cls(raw, size=len(raw), count=raw.count(b"\n"))

    @classmethod
    def of_rows(cls, rows: Sequence[bytes], sizes: Sequence[int] = ()) -> LineBlock:
        """Return the block of some lines, given without their newlines."""
        raw = b"\n".join(rows) + b"\n"
        return cls(
            raw, size=sum(sizes) if sizes else len(raw), count=len(rows), sizes=sizes, split=rows
        )

    def lines(self) -> Iterator[SourceLine]:
        """Yield the lines one by one."""
        rows = self.rows()
        for row, size in zip(rows, self.sizes or [len(row) + 1 for row in rows], strict=True):
            yield SourceLine(row + b"\n", None, size)

    def rows(self) -> Sequence[bytes]:
        """Return each line without its newline."""
        return self.split or self.raw.removesuffix(b"\n").split(b"\n")


def grouped(lines: Iterable[SourceLine]) -> Iterator[SourceLine]:
    """Yield small lines in blocks, which then take less time each, and other lines as they are."""
    rows: list[bytes] = []
    sizes: list[int] = []
    for line in lines:
        is_small = len(line.raw) <= _SMALL_LINE_BYTES and line.fault is None and line.origin is None
        if is_small:
            rows.append(line.raw)
            sizes.append(line.size)
        if rows and (not is_small or len(rows) == _BLOCK_ROWS):
            yield LineBlock(b"".join(rows), size=sum(sizes), count=len(rows), sizes=sizes)
            rows, sizes = [], []
        if not is_small:
            yield line
    if rows:
        yield LineBlock(b"".join(rows), size=sum(sizes), count=len(rows), sizes=sizes)


def length_fault(size: int, limit: int) -> Fault:
    """Return the fault for a line that is too long."""
    return Fault(
        ErrorCode.LINE_TOO_LONG,
        f"the line has {size:,} bytes, at most {limit:,} are allowed",
        "split the case, or raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
    )


def encode_case(
    case: Mapping[str, Any] | bytes | str, as_plain: Callable[[Any], Any] | None = None
) -> SourceLine:
    """Return a case as an input line, or a fault if JSON cannot represent it.

    `as_plain` converts values of other types to JSON values.
    """
    if isinstance(case, (bytes, str)):
        return _given_line(case)
    try:
        line = orjson.dumps(case, as_plain or _as_dict, orjson.OPT_APPEND_NEWLINE)
    except (TypeError, RecursionError) as error:
        return SourceLine(_only_id(case), _unwritable_fault(str(error)), 1)
    # orjson encodes NaN as null, which would change the case silently.
    if b"null" in line and _has_nan(case):
        return SourceLine(_only_id(case), _unwritable_fault("NaN"), 1)
    return SourceLine(line, None, len(line))


def _given_line(case: bytes | str) -> SourceLine:
    try:
        line = (case.encode() if isinstance(case, str) else case).rstrip(b"\r\n")
    except UnicodeEncodeError:
        return SourceLine(b"\n", _unwritable_fault("surrogates"), len(case))
    if b"\n" in line:
        fault = Fault(
            ErrorCode.INVALID_JSON,
            "a case passed as text contains a line break",
            "pass one line per case",
        )
        return SourceLine(b"\n", fault, len(case))
    return SourceLine(line + b"\n", None, len(line) + 1)


def _as_dict(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON type")


def _only_id(case: object) -> bytes:
    """Return a line with only the case's custom_id, so that the result has the id."""
    custom_id = case.get("custom_id") if isinstance(case, Mapping) else None
    try:
        return orjson.dumps({"custom_id": custom_id}, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return b"\n"


def _has_nan(root: object) -> bool:
    nodes = [root]
    for node in nodes:
        if isinstance(node, float) and not math.isfinite(node):
            return True
        if isinstance(node, Mapping):
            nodes.extend(node.values())
        elif isinstance(node, (list, tuple)):
            nodes.extend(node)
    return False


def _unwritable_fault(why: str) -> Fault:
    known = (
        ("64-bit", ErrorCode.NUMBER_OUT_OF_RANGE, "write very large numbers as strings"),
        ("NaN", ErrorCode.NUMBER_OUT_OF_RANGE, "write null or a string instead of NaN or Infinity"),
        (
            "surrogates",
            ErrorCode.LONE_SURROGATE,
            "write both halves of the surrogate pair, or U+FFFD",
        ),
        ("ecursion", ErrorCode.TOO_DEEP, "flatten the value"),
    )
    code, hint = next(
        ((code, hint) for sign, code, hint in known if sign in why),
        (ErrorCode.INVALID_JSON, "use plain JSON types"),
    )
    return Fault(code, f"the case cannot be written as JSON: {why[:200]}", hint)


class HeldLines:
    """A buffer of lines until their format is known; in blocks, because a document may have millions of short lines."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._lengths = array("Q")  #: lengths and input bytes of the lines in the blocks
        self._sizes = array("Q")
        self._faults: dict[
            int, SourceLine
        ] = {}  #: lines with a fault, by their place in the blocks
        self._last: list[SourceLine] = []

    def add(self, line: SourceLine) -> None:
        """Add a line."""
        if line.fault:
            self._faults[len(self._lengths) + len(self._last)] = line
        self._last.append(line)
        if len(self._last) >= _BLOCK_LINES:
            self._blocks.append(b"".join([each.raw for each in self._last]))
            self._lengths.extend(map(len, [each.raw for each in self._last]))
            self._sizes.extend([each.size for each in self._last])
            self._last = []

    def text(self) -> bytes:
        """Return the lines as one text."""
        return b"".join([*self._blocks, *[line.raw for line in self._last]])

    def lines(self) -> Iterator[SourceLine]:
        """Yield the lines unchanged."""
        measures = enumerate(zip(self._lengths, self._sizes, strict=True))
        for block in self._blocks:
            start = 0
            for at, (length, size) in islice(measures, _BLOCK_LINES):
                line = SourceLine(block[start : start + length], None, size)
                yield self._faults.get(at, line)
                start += length
        yield from self._last
