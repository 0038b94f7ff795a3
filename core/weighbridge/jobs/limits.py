"""Limits of the job contract, and its version.

A case is one line of input; a job is one case judged by one grader; a batch is the jobs of one submission.
"""

from __future__ import annotations

import re

SCHEMA_VERSION = 1  #: of the Celery message and of a stored chunk
NAME_LIMIT = 256
METADATA_LIMIT_BYTES = 64 * 1024  #: of a case
VALID_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,256}")
