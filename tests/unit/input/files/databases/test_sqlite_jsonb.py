"""SQLite's binary JSON: every value that JSON has, in every width of header, and what is no such value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.jsonb import element, jsonb
from weighbridge_producer.input.files.databases.sqlite_jsonb import json_of_jsonb

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=300).filter(lambda text: text.isprintable())
)
_VALUES = st.recursive(
    _SCALARS, lambda held: st.lists(held) | st.dictionaries(st.text(max_size=20), held)
)


@given(_VALUES)
def test_what_is_written_is_read_again(value: object) -> None:
    assert json_of_jsonb(jsonb(value)) == value


@pytest.mark.parametrize("length", [0, 11, 12, 255, 256, 65_535, 65_536])
def test_texts_of_all_lengths_are_read(length: int) -> None:
    assert json_of_jsonb(jsonb("x" * length)) == "x" * length


@pytest.mark.parametrize(
    ("blob", "value"),
    [
        (bytes.fromhex("4c17611331"), {"a": 1}),
        (element(4, b"0x1f"), 31),
        (element(7, b"plain"), "plain"),
        (element(8, rb"a\nb"), "a\nb"),
        (element(6, b"5."), 5.0),
        (bytes([3 | 15 << 4]) + (1).to_bytes(8, "big") + b"7", 7),
    ],
)
def test_elements_that_sqlite_writes_are_read(blob: bytes, value: object) -> None:
    assert json_of_jsonb(blob) == value


@pytest.mark.parametrize(
    "blob",
    [b"", b"\xff", b"{}", jsonb("text")[:-1], jsonb([1]) + b"0", element(12, jsonb("a")), element(12, jsonb(1) * 2),
     element(13, b""), element(3, b"x"), element(10, b"\xff"), element(11, b"\xf3"), element(11, b"\x1b" * 9)],
)  # fmt: skip
def test_other_bytes_are_refused(blob: bytes) -> None:
    with pytest.raises(ValueError):
        json_of_jsonb(blob)


def test_nesting_beyond_the_stack_is_refused() -> None:
    blob = b""
    for _ in range(5_000):
        blob = element(11, blob)
    with pytest.raises(ValueError, match="not JSONB"):
        json_of_jsonb(blob)
