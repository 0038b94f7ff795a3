"""The codec: strict JSON in, with every fault named; canonical JSON for receipts."""

import hashlib
import json
import math
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.errors import LineError
from weighbridge.grading.receipt import Receipts, canonical_json
from weighbridge.grading.strict_json import DEPTH_LIMIT, decode_line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.limits import VALID_NAME
from weighbridge.jobs.line import JSON_SPACE, is_valid_name, peek_custom_id, split_lines


def nested(depth: int) -> bytes:
    """Return an object with a number of nesting levels, including itself."""
    return b'{"a":' * depth + b"1" + b"}" * depth


BAD_LINES = {
    "no JSON": (b"hello", "INVALID_JSON", "not JSON"),
    "a word without quotes": (
        b'{"a": nope}',
        "INVALID_JSON",
        "without quotes, only null, true, false",
    ),
    "nothing": (b"", "INVALID_JSON", "ends too early"),
    "cut off in a string": (b'{"custom_id": "a', "INVALID_JSON", "ends too early at byte 16"),
    "cut off in an object": (b'{"custom_id": "a"', "INVALID_JSON", "ends too early"),
    "cut off in an array": (b'{"a": [1, 2', "INVALID_JSON", "ends too early"),
    "single quotes": (b"{'a': 1}", "INVALID_JSON", "key must be a string at byte 2"),
    "a trailing comma": (b'{"a": 1,}', "INVALID_JSON", "trailing comma at byte 9"),
    "two values": (
        b'{"a": 1} {"b": 2}',
        "INVALID_JSON",
        "several JSON values, the second at byte 10",
    ),
    "two values and a comma": (b'{"a": 1}, {"b": 2}', "INVALID_JSON", "trailing characters"),
    "a leading zero": (b'{"a": 01}', "INVALID_JSON", "invalid number"),
    "a bare control character": (b'{"a": "\x01"}', "INVALID_JSON", "control character"),
    "a bad escape": (b'{"a": "\\x41"}', "INVALID_JSON", "invalid escape"),
    "NaN": (b'{"a": NaN}', "NUMBER_OUT_OF_RANGE", "NaN and Infinity are not JSON at byte 7"),
    "Infinity": (b'{"a": Infinity}', "NUMBER_OUT_OF_RANGE", "NaN and Infinity"),
    "minus Infinity": (b'{"a": -Infinity}', "NUMBER_OUT_OF_RANGE", "NaN and Infinity"),
    "1e999": (b'{"a": 1e999}', "NUMBER_OUT_OF_RANGE", "does not fit into 64 bits"),
    "-1e999 in an array": (
        b'{"a": [[-1e999]]}',
        "NUMBER_OUT_OF_RANGE",
        "does not fit into 64 bits",
    ),
    "2 to the 64": (
        b'{"a": 18446744073709551616}',
        "NUMBER_OUT_OF_RANGE",
        "does not fit into 64 bits",
    ),
    "under -2 to the 63": (b'{"a": -9223372036854775809}', "NUMBER_OUT_OF_RANGE", "64 bits"),
    "5,000 digits": (b'{"a": ' + b"7" * 5000 + b"}", "NUMBER_OUT_OF_RANGE", "too long"),
    "400 digits and a point": (b'{"a": ' + b"7" * 400 + b".5}", "NUMBER_OUT_OF_RANGE", "64 bits"),
    "one key twice": (b'{"a": 1, "a": 2}', "DUPLICATE_KEY", "the key 'a' occurs twice"),
    "one key twice, escaped": (b'{"a": 1, "\\u0061": 2}', "DUPLICATE_KEY", "the key 'a'"),
    "one key twice, inside": (b'{"x": [{"b": 1, "b": 1}]}', "DUPLICATE_KEY", "the key 'b'"),
    "a key like another fault": (
        b'{"recursion limit": 1, "recursion limit": 2}',
        "DUPLICATE_KEY",
        "the key 'recursion limit'",
    ),
    "half a surrogate pair": (b'{"a": "\\ud800"}', "LONE_SURROGATE", "lone surrogate"),
    "the other half": (b'{"a": "\\udc00x"}', "LONE_SURROGATE", "lone surrogate"),
    "halves in the wrong order": (b'{"a": "\\ude00\\ud83d"}', "LONE_SURROGATE", "lone surrogate"),
    "half a pair in a key": (b'{"\\ud800": 1}', "LONE_SURROGATE", "lone surrogate"),
    "Latin-1": ('{"a": "é"}'.encode("latin-1"), "INVALID_UTF8", "byte 8 is not UTF-8: 0xe9"),
    "a surrogate in UTF-8": (b'{"a": "\xed\xa0\x80"}', "INVALID_UTF8", "byte 8 is not UTF-8"),
    "an overlong form": (b'{"a": "\xc0\x80"}', "INVALID_UTF8", "byte 8"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "INVALID_UTF8", "byte 1 is not UTF-8: 0xff"),
    "a byte-order mark": (b'\xef\xbb\xbf{"a": 1}', "BYTE_ORDER_MARK", "byte-order mark"),
    "201 levels": (nested(DEPTH_LIMIT + 1), "TOO_DEEP", "nested deeper than 200 levels"),
    "10,000 levels": (nested(10_000), "TOO_DEEP", "nested deeper than 200 levels"),
    "10,000 open brackets": (b"[" * 10_000, "TOO_DEEP", "nested deeper than 200 levels"),
    "an array": (b"[1]", "NOT_AN_OBJECT", "a JSON array, not an object"),
    "a string": (b'"a"', "NOT_AN_OBJECT", "a JSON string"),
    "a number": (b"1.5", "NOT_AN_OBJECT", "a JSON number"),
    "null": (b"null", "NOT_AN_OBJECT", "a JSON null"),
    "true": (b"true", "NOT_AN_OBJECT", "a JSON boolean"),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_line_that_is_not_strict_json_is_refused_with_its_code_message_and_hint(
    kind: str,
) -> None:
    line, code, message = BAD_LINES[kind]
    with pytest.raises(LineError) as caught:
        decode_line(line)
    assert caught.value.fault.code == ErrorCode(code)
    assert message in caught.value.message
    assert caught.value.hint
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": 18446744073709551615, "b": -9223372036854775808}',
        b'{"a": 1.7976931348623157e308, "b": -0.0, "c": 1e-400}',
        b' \t{"a" : [ ] }\r\n',
        b'{"\\u0000": "\\ud83d\\ude00"}',
        b'{"a": {"a": 1}, "b": {"a": 1}}',
        nested(DEPTH_LIMIT),
        b"{}",
    ],
)
def test_a_strict_line_within_the_limits_is_read_as_the_standard_library_reads_it(
    line: bytes,
) -> None:
    assert decode_line(line) == json.loads(line)


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from("é😀\ufb33\U00010000"), inner)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values, max_size=4), st.booleans())
def test_what_was_written_is_read_back(value: dict[str, Any], escaped: bool) -> None:
    assert decode_line(json.dumps(value, ensure_ascii=escaped).encode()) == value


@given(st.binary(max_size=60) | st.text().map(str.encode))
def test_any_bytes_are_an_object_or_a_line_error(line: bytes) -> None:
    try:
        found: object = decode_line(line)
    except LineError as error:
        found = error
    assert type(found) is dict or (isinstance(found, LineError) and found.fault.code in ErrorCode)


names = st.text(max_size=20) | st.sampled_from(["", "a" * 256, "a" * 257, "\n", "a\x7f", "\x85"])


@given(names | json_values, st.dictionaries(st.text(max_size=3), json_values, max_size=3))
def test_peeking_finds_the_custom_id_that_strict_decoding_finds(
    custom_id: Any, others: dict[str, Any]
) -> None:
    line = orjson.dumps(others | {"custom_id": custom_id})
    found = decode_line(line)["custom_id"]
    is_valid = isinstance(found, str) and VALID_NAME.fullmatch(found)
    assert peek_custom_id(line) == (found if is_valid else None)


@pytest.mark.parametrize("kind", BAD_LINES)
def test_peeking_at_a_bad_line_does_not_raise(kind: str) -> None:
    assert peek_custom_id(BAD_LINES[kind][0]) is None


PIECES = (
    *(b'{"custom_id":"a"}', b'{"custom_id": "b", "x": [{}]}', b'{"custom_id":', b'"c"}', b'"x":1}'),
    *(
        b'{"custom_id":"d"',
        b"{}",
        b"{} {}",
        b'{"custom_id":"e"}{}',
        b"}",
        b"{",
        b"[",
        b"]",
        b",",
        b" ",
    ),
    *(
        b'{"custom_id":7}',
        b'{"custom_id":null}',
        b'{"custom_id":""}',
        b'{"custom_id":"\\n"}',
        b"\xff",
    ),
    b'{"custom_id":"%s"}' % (b"f" * 257),
)


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=3).map(b"".join), min_size=1, max_size=6)
)
def test_ids_of_many_lines_are_those_of_each_whatever_the_lines_are_together(
    lines: list[bytes],
) -> None:
    contents = [line.strip(JSON_SPACE) for line in lines]
    ids = list(map(peek_custom_id, contents))
    raw = b"\n".join(lines) + b"\n"
    assert split_lines(raw) == split_lines(raw, lines) == (contents, ids)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_ids_of_good_lines_are_read_together(end: bytes) -> None:
    lines = [b'{"custom_id":"%d"}' % number for number in range(100)]
    assert split_lines(end.join(lines) + end) == (lines, [str(number) for number in range(100)])


def test_a_line_that_only_the_worker_refuses_still_shows_its_custom_id() -> None:
    assert peek_custom_id(b'{"custom_id": "a", "x": 1, "x": 2}') == "a"


@given(st.text(max_size=300))
def test_a_name_is_valid_exactly_when_the_pattern_says_so(name: str) -> None:
    assert is_valid_name(name) == bool(VALID_NAME.fullmatch(name))


@pytest.mark.parametrize("character", ["\x00", "\n", "\x1f", "\x7f", "\x80", "\x9f"])
def test_a_name_has_no_control_characters(character: str) -> None:
    assert not is_valid_name(f"a{character}")
    assert is_valid_name("a\u00a0\u2028\u200b😀")  # odd, but no control characters


exact = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([-0.0, 1e21, 1e-7, 1e16, 1.0, 5e-324, 0.1])
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=5) | st.sampled_from(["é", "😀", "\ufb33", "\U00010000", "\uffff"]),
            inner,
        )
    ),
    max_leaves=20,
)


@given(exact)
def test_canonical_json_is_what_the_rfc_8785_library_writes(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [None, True, 0, -5, 1.0, 1e-9, "é"])
def test_a_value_that_is_no_object_and_no_list_has_a_canonical_form(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("digits", ["1", "1.5", "9.999999999999999", "1.7976931348623157"])
@pytest.mark.parametrize("exponent", [-324, -300, -7, -6, 14, 15, 16, 20, 21, 22, 100, 308])
def test_floats_of_every_size_are_written_as_the_rfc_8785_library_does(
    digits: str, exponent: int
) -> None:
    number = float(f"{digits}e{exponent}")
    if math.isfinite(number):
        assert canonical_json([number, -number]) == rfc8785.dumps([number, -number])


def test_keys_sort_by_utf_16() -> None:
    value = {"\ufb33": 1, "😀": 2, "é": 3, "\r": 4, "1": 5}
    assert list(json.loads(canonical_json(value))) == ["\r", "1", "é", "😀", "\ufb33"]


@given(st.integers(min_value=2**53) | st.integers(max_value=-(2**53)))
def test_an_integer_beyond_2_to_the_53_keeps_all_its_digits(number: int) -> None:
    assert canonical_json({"a": [number, 1.5]}) == b'{"a":[%d,1.5]}' % number
    assert canonical_json({"a": [number]}) == b'{"a":[%d]}' % number


@pytest.mark.parametrize(
    "value", [{1: "a"}, {"a": {1, 2}}, {"a": "\ud800"}, {"\ud800": 1}, {"a": math.nan}, {"a": b""}]
)
def test_what_json_cannot_carry_has_no_canonical_form(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)


def test_a_deep_value_with_a_float_at_its_end_is_written_in_linear_time() -> None:
    value: Any = {"number": 1e-9, "text": "x" * 1000}
    for _ in range(DEPTH_LIMIT - 10):
        value = {"a": value, "b": ["x" * 1000] * 50}
    assert canonical_json(value) == rfc8785.dumps(value)


RESULT = {"passed": True, "score": 1.0, "verdict": "pass", "details": {}, "evidence": []}
INPUTS = {"agent_response": "yes", "expected_output": "true"}


def receipt_of(
    grader: str = "true-false",
    version: int = 1,
    config: dict[str, Any] | None = None,
    inputs: dict[str, Any] = INPUTS,
    result: dict[str, Any] = RESULT,
) -> str:
    return Receipts(grader, version, config or {}).of(canonical_json(inputs), result)


@pytest.mark.parametrize("inputs", [INPUTS, {"text": "é" * 300_000}], ids=["small", "large"])
def test_a_receipt_is_the_sha_256_of_the_canonical_form_of_what_was_judged(
    inputs: dict[str, Any],
) -> None:
    judged = {
        "config": {"case_sensitive": False},
        "grader": "true-false",
        "grader_version": 1,
        "inputs": inputs,
        "result": RESULT,
    }
    expected = hashlib.sha256(rfc8785.dumps(judged)).hexdigest()
    assert receipt_of(config={"case_sensitive": False}, inputs=inputs) == expected


@pytest.mark.parametrize("score", [0.0, 0.25, 1.0, 0, 1])
def test_a_receipt_is_canonical_whatever_the_score(score: float) -> None:
    judged = {
        "config": {},
        "grader": "g",
        "grader_version": 1,
        "inputs": {},
        "result": {"score": score},
    }
    expected = hashlib.sha256(rfc8785.dumps(judged)).hexdigest()
    assert receipt_of("g", 1, {}, {}, {"score": score}) == expected


def test_a_receipt_does_not_depend_on_the_order_of_keys() -> None:
    turned = dict(reversed(INPUTS.items()))
    assert receipt_of(inputs=turned, result=dict(reversed(RESULT.items()))) == receipt_of()


@pytest.mark.parametrize(
    "change",
    [
        {"grader": "string-match"},
        {"version": 2},
        {"config": {"a": 1}},
        {"inputs": INPUTS | {"agent_response": "Yes"}},
        {"result": RESULT | {"score": 0.5}},
        {"result": RESULT | {"details": {"a": None}}},
    ],
)
def test_a_receipt_changes_with_each_part(change: dict[str, Any]) -> None:
    assert receipt_of(**change) != receipt_of()
