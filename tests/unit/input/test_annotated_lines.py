"""Framing: a sender's findings are transmitted with its lines, whatever the lines contain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.annotated_lines import annotate, read_annotated
from weighbridge_producer.input.source_lines import SourceLine

raws = st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b" ") + b"\n")
faults = st.builds(
    Fault, st.sampled_from(list(ErrorCode)).map(str), st.text(max_size=20), st.text(max_size=20)
)
origins = st.tuples(st.text(max_size=20), st.integers(1, 10**7))
lines = st.builds(SourceLine, raws, st.none() | faults, st.just(0), st.none() | origins)


@given(st.lists(lines, max_size=8))
def test_lines_arrive_as_they_were_sent(given_lines: list[SourceLine]) -> None:
    body = b"".join(annotate(given_lines))
    received = read_annotated(SourceLine(raw + b"\n") for raw in body.split(b"\n")[:-1])
    assert [(line.raw, line.fault, line.origin) for line in received] == [
        (line.raw, line.fault, line.origin) for line in given_lines
    ]


def test_lines_that_need_no_note_are_sent_as_they_are() -> None:
    raws = [b'{"custom_id":"a"}\n', b"\n", b'{"custom_id":"b"}\n']
    assert list(annotate(SourceLine(raw) for raw in raws)) == raws


def test_a_line_that_is_far_too_long_counts_as_long_as_it_was() -> None:
    fault = Fault("LINE_TOO_LONG", "the line has 99 bytes", "split it")
    note, raw = annotate([SourceLine(b"\n", fault, 99)])
    [line] = read_annotated([SourceLine(note), SourceLine(raw, None, 1)])
    assert line.size == 99


@pytest.mark.parametrize(
    "note",
    [
        *(b"\x1e", b"\x1e[]", b"\x1e{", b'\x1e{"fault":{}}', b'\x1e{"origin":["a"]}'),
        *(b'\x1e{"size":-1}', b'\x1e{"size":1e300}', b'\x1e{"origin":[1,"a"]}', b"\x1e\xff"),
        b'\x1e{"fault":{"code":"MADE_UP","message":"","hint":""}}',
        b'\x1e{"fault":{"code":"TIMEOUT","message":"' + b"x" * 5000 + b'","hint":""}}',
        b'\x1e{"origin":["a",' + b"9" * 400 + b"]}",
    ],
)
def test_a_note_that_makes_no_sense_is_refused(note: bytes) -> None:
    with pytest.raises(InputError, match="invalid annotation in an upload"):
        list(read_annotated([SourceLine(note + b"\n"), SourceLine(b"{}\n")]))


def test_a_note_on_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="nothing follows the last annotation"):
        list(read_annotated([SourceLine(b"\x1e{}\n")]))
