"""Encoding: a case given as a Python object becomes a line, or a fault with the reason why it cannot."""

import types
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.grading.strict_json import decode_line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.source_lines import encode_case

LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (2**64, ErrorCode.NUMBER_OUT_OF_RANGE),
        (-(2**63) - 1, ErrorCode.NUMBER_OUT_OF_RANGE),
        pytest.param(10**5000, ErrorCode.NUMBER_OUT_OF_RANGE, id="5,001 digits"),
        (float("nan"), ErrorCode.NUMBER_OUT_OF_RANGE),
        (float("-inf"), ErrorCode.NUMBER_OUT_OF_RANGE),
        ([{"deep": [float("inf"), None]}], ErrorCode.NUMBER_OUT_OF_RANGE),
        (types.MappingProxyType({"x": float("nan")}), ErrorCode.NUMBER_OUT_OF_RANGE),
        ("\ud800", ErrorCode.LONE_SURROGATE),
        (LOOP, ErrorCode.TOO_DEEP),
        ({1, 2}, ErrorCode.INVALID_JSON),
        (b"bytes", ErrorCode.INVALID_JSON),
        ({1: 2}, ErrorCode.INVALID_JSON),
        (object(), ErrorCode.INVALID_JSON),
    ],
)
def test_what_json_cannot_carry_is_that_cases_fault_and_its_id_is_kept(
    value: object, code: ErrorCode
) -> None:
    line = encode_case({"custom_id": "a", "inputs": {"x": value}})
    assert line.fault
    assert line.fault.code == code
    assert line.fault.message.startswith("the case cannot be written as JSON: ")
    assert line.fault.hint
    assert orjson.loads(line.raw) == {"custom_id": "a"}
    assert len(line.fault.message) < 300


@pytest.mark.parametrize("custom_id", ["\ud800", {1}, 2**70])
def test_a_case_whose_id_cannot_be_written_has_none(custom_id: object) -> None:
    line = encode_case({"custom_id": custom_id})
    assert line.fault
    assert line.raw == b"\n"


@pytest.mark.parametrize("text", [b'{"a":\n1}', '{"a":\n1}'])
def test_text_of_two_lines_is_no_case(text: bytes | str) -> None:
    line = encode_case(text)
    assert line.fault
    assert line.fault.code == ErrorCode.INVALID_JSON
    assert "line break" in line.fault.message
    assert line.raw == b"\n"


def test_text_with_half_a_surrogate_pair_is_no_case() -> None:
    line = encode_case('{"a": "\ud800"}')
    assert line.fault
    assert line.fault.code == ErrorCode.LONE_SURROGATE


def test_none_and_infinity_beside_each_other_are_told_apart() -> None:
    assert encode_case({"a": None}).raw == b'{"a":null}\n'
    assert encode_case({"a": None}).fault is None
    assert encode_case({"a": "null"}).fault is None


def test_any_mapping_is_a_case() -> None:
    frozen = types.MappingProxyType(
        {"custom_id": "a", "inputs": types.MappingProxyType({"x": (1, 2)})}
    )
    assert encode_case(frozen).raw == b'{"custom_id":"a","inputs":{"x":[1,2]}}\n'


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=4), values, max_size=4))
def test_a_case_is_read_back_as_it_was_given(case: dict[str, Any]) -> None:
    line = encode_case(case)
    assert line.fault is None
    assert line.size == len(line.raw)
    assert decode_line(line.raw) == case
