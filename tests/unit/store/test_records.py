"""Records: the forms in which they are passed to the store's scripts and parsed again."""

from typing import Any

import orjson
import pytest

from weighbridge.errors import Fault
from weighbridge.store import BatchOptions, ChunkInfo, FailureCount


def test_options_that_were_not_given_are_stored_as_empty() -> None:
    assert orjson.loads(BatchOptions().pack()) == {
        "graders": [],
        "source": "",
        "metadata": {},
        "queue": "",
        "priority": "normal",
        "versions": {},
        "project": "default",
        "submitted_by": "",
        "submitter_key": "",
    }


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ({"run": "7", "note": ""}, {"run": "7", "note": ""}),
        (
            {"run": 7, "of": None, "a": {"b": [1, "x"]}},
            {"run": "7", "of": "null", "a": '{"b":[1,"x"]}'},
        ),
        ([1], {"metadata": "[1]"}),
        ("x", {"metadata": "x"}),
    ],
)
def test_stored_metadata_that_is_no_text_is_read_as_text(stored: Any, read: dict[str, str]) -> None:
    packed = orjson.dumps(orjson.loads(BatchOptions().pack()) | {"metadata": stored})
    assert BatchOptions.unpack(packed).metadata == read


def test_stored_options_of_other_types_are_damaged() -> None:
    stored = orjson.loads(BatchOptions().pack())
    for name in ("source", "project", "submitted_by"):
        with pytest.raises(TypeError, match=f"{name} is not a string"):
            BatchOptions.unpack(orjson.dumps(stored | {name: 7}))


def test_a_fault_of_several_lines_is_read_again_in_one() -> None:
    fault = Fault("TIMEOUT", "it hung\n  at 100 %\u2028\r\n", "")
    job, limit, packed = FailureCount(4, 3, fault).as_arguments()
    assert (job, limit, packed) == (4, 3, "TIMEOUT\nit hung at 100 %\n")
    assert ChunkInfo(quarantined={"4": packed}).faults == {
        4: Fault("TIMEOUT", "it hung at 100 %", "")
    }
