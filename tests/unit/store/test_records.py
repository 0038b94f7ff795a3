"""Records: the forms in which they are passed to the store's scripts and parsed again."""

import orjson

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


def test_a_fault_of_several_lines_is_read_again_in_one() -> None:
    fault = Fault("TIMEOUT", "it hung\n  at 100 %\u2028\r\n", "")
    job, limit, packed = FailureCount(4, 3, fault).as_arguments()
    assert (job, limit, packed) == (4, 3, "TIMEOUT\nit hung at 100 %\n")
    assert ChunkInfo(quarantined={"4": packed}).faults == {
        4: Fault("TIMEOUT", "it hung at 100 %", "")
    }
