"""Set a Python process's clock wrong, as a machine's may be: FAULTS_CLOCK_SHIFT_SECONDS says by how much."""

import os
import time

_shift = float(os.environ.get("FAULTS_CLOCK_SHIFT_SECONDS", "0"))
_time, _time_ns = time.time, time.time_ns

time.time = lambda: _time() + _shift
time.time_ns = lambda: _time_ns() + int(_shift * 1_000_000_000)
