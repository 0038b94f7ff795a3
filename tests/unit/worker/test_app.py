"""What a child does with a message that it cannot process, in a process of its own: the application is made on import."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import importlib, logging, weighbridge.errors
module = importlib.import_module("weighbridge_worker.app")

class FailingChild:
    def grade_next(self, lane, hops):
        raise {error}

logging.basicConfig(format="%(message)s")
module.worker_state.child = FailingChild()
module._wake = lambda lane, hops: print("woke another", flush=True)
module.grade_chunk(1, "", 0)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "woke", "said"),
    [
        (
            "weighbridge.errors.BatchError('it is damaged', 'delete it')",
            "woke another\n",
            "processing a message failed, and another is sent for work that waits: it is damaged",
        ),
        (
            "weighbridge.errors.TraceError('no trace', 'give one')",
            "woke another\n",
            "processing a message failed, and another is sent for work that waits: no trace",
        ),
        (
            "KeyError('x')",
            "",
            "unexpected error in processing a message: a chunk leased for it is put back",
        ),
    ],
)
def test_an_error_in_processing_a_message_ends_no_child_and_is_said_as_it_is(
    error: str, woke: str, said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(error=error)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, said in done.stderr) == (woke, True), done.stderr
