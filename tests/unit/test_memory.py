"""Memory use of processes."""

import subprocess
import sys

import pytest

from weighbridge.memory import glibc

_CODE = """
import resource
from weighbridge.memory import keep_freed_memory

keep_freed_memory()
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        pages = [b"x" * size for size in (3_000_000, 5_000_000, 4_000_000)]
        del pages
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(glibc() is None, reason="the C library is not glibc")
def test_freed_memory_of_results_is_used_again_without_going_back_to_the_system() -> None:
    # Pages of memory that were fetched from the system again; it would be some 30,000 of them.
    ended = subprocess.run(
        [sys.executable, "-c", _CODE], capture_output=True, text=True, check=True
    )
    assert int(ended.stdout) < 1_000
