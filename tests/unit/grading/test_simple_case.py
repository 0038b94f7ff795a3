"""The quick reading of simple cases: it reads nothing otherwise than strict reading does."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.errors import LineError
from weighbridge.grading.simple_case import read_simple_case
from weighbridge.grading.strict_json import decode_line
from weighbridge.jobs.grader_spec import GraderSpec

DEFAULTS = (GraderSpec("true-false"),)

spaces = st.sampled_from(["", "", "", " ", "\t", "\r"])
texts = st.text(max_size=8) | st.sampled_from(
    ['a":b', "x : y", "{", ":", "\\", "é", "😀", "\x7f", "", '","custom_id":"b']
)
scalars = texts.map(json.dumps) | texts.map(lambda text: json.dumps(text, ensure_ascii=False))
odd = st.sampled_from(
    [
        *("null", "true", "false", "1", "1e999", "18446744073709551616", "NaN"),
        *("[]", '["a"]', "{}", '"\\ud800"', '"\\udc00\\ud800"', '"\t"', '"\\x"', '"a",'),
    ]
)


@st.composite
def objects(draw: st.DrawFn, keys: st.SearchStrategy[str], values: st.SearchStrategy[str]) -> str:
    """Objects as text, with any space between their parts, and perhaps with one key twice."""
    members = [
        f'{draw(spaces)}"{draw(keys)}"{draw(spaces)}:{draw(spaces)}{draw(values)}{draw(spaces)}'
        for _ in range(draw(st.integers(0, 4)))
    ]
    return "{" + ",".join(members) + "}"


names = st.sampled_from(["agent_response", "expected_output", "a", "\\u0061"])
fields = st.sampled_from(["custom_id", "inputs", "grader", "metadata", "config", "tags"])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Lines that are simple cases, or nearly so."""
    inner = objects(names, scalars | odd)
    members = [
        ("custom_id", draw(scalars | odd)),
        ("inputs", draw(inner)),
        *draw(st.lists(st.tuples(fields, scalars | odd | inner), max_size=2)),
    ]
    written = [f'"{key}"{draw(spaces)}:{draw(spaces)}{value}' for key, value in members]
    return ("{" + ",".join(draw(st.permutations(written))) + "}").encode()


@given(lines())
def test_what_is_read_quickly_is_what_strict_reading_reads(raw: bytes) -> None:
    case = read_simple_case(raw, DEFAULTS)
    if case is None:
        return
    value = decode_line(raw)
    assert value.keys() <= {"custom_id", "inputs", "grader", "metadata"}
    assert (case.custom_id, case.inputs) == (value["custom_id"], value["inputs"])
    assert case.metadata == value.get("metadata")
    assert case.graders == ((GraderSpec(value["grader"]),) if "grader" in value else DEFAULTS)


def line(**fields: Any) -> bytes:
    return json.dumps({"custom_id": "a", "inputs": {"agent_response": "yes"}} | fields).encode()


@pytest.mark.parametrize(
    "raw",
    [
        line(),
        line(grader="string-match"),
        line(metadata={"topic": "returns"}, grader="loop"),
        line(metadata=None),
        line(metadata={}),
        line(inputs={"agent_response": "yes", "expected_output": True}),
        line(inputs={"agent_response": None, "expected_output": False}),
        b'{"custom_id" : "a", "inputs" : {}}',
    ],
)
def test_a_simple_case_is_read_quickly(raw: bytes) -> None:
    assert read_simple_case(raw, DEFAULTS) is not None


@pytest.mark.parametrize(
    "raw",
    [
        b'{"custom_id":"a","inputs":{"a":"1","a":"2"}}',
        b'{"custom_id":"a","custom_id":"b","inputs":{}}',
        b'{"custom_id":"a","inputs":{"a":"1","\\u0061":"2"}}',
        b'{"custom_id":"a","inputs":{"a":"1","a" :"2"}}',
        b'{"custom_id":"a","inputs":{"a":"\\ud800"}}',
        b'\xef\xbb\xbf{"custom_id":"a","inputs":{}}',
        b'{"custom_id":"a","inputs":{"a":1e999}}',
        line(grader=""),
        line(grader="a\x00"),
        line(custom_id=""),
        line(metadata=[]),
        line(metadata=0),
        line(metadata={"a": True}),
        line(inputs={"a": 1}),
        line(inputs={"a": 0.5}),
        line(inputs={"a": []}),
        line(grader=None),
        line(config=None),
        b"[]",
        b"",
    ],
)
def test_what_may_be_wrong_is_left_to_strict_reading(raw: bytes) -> None:
    assert read_simple_case(raw, DEFAULTS) is None


def test_a_line_without_a_grader_is_left_to_strict_reading() -> None:
    assert read_simple_case(line(), ()) is None


def test_a_text_that_looks_like_a_key_is_left_to_strict_reading() -> None:
    raw = line(inputs={"agent_response": 'he said: {"a":1}'})
    assert read_simple_case(raw, DEFAULTS) is None
    with pytest.raises(LineError):
        decode_line(raw[:-1])
