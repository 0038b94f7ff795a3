"""The codes of errored jobs: why each was not graded."""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    """The reason why a job is `errored`: its line, its grader, or an event in its process.

    The `#:` comments are the table in docs/reference/errors.md: the first line what is wrong, the others what helps.
    """

    #: The line is not JSON, or only the beginning of it; or the file is not JSON, such as an archive of several files.
    #: Write one JSON object per line; nothing may follow it. Unpack an archive.
    INVALID_JSON = "INVALID_JSON"
    #: The line is not UTF-8.
    #: Save the file as UTF-8.
    INVALID_UTF8 = "INVALID_UTF8"
    #: A byte-order mark in the middle of the input.
    #: Remove the bytes EF BB BF; joined files often have them.
    BYTE_ORDER_MARK = "BYTE_ORDER_MARK"
    #: An object has the same key twice.
    #: Keep one of them.
    DUPLICATE_KEY = "DUPLICATE_KEY"
    #: NaN, an infinity, or a number that does not fit into 64 bits.
    #: Write it as a string, or null.
    NUMBER_OUT_OF_RANGE = "NUMBER_OUT_OF_RANGE"
    #: Half of a surrogate pair, such as `\ud800`, which UTF-8 cannot carry.
    #: Write both halves, or U+FFFD.
    LONE_SURROGATE = "LONE_SURROGATE"
    #: Nested deeper than 200 levels.
    #: Flatten the value.
    TOO_DEEP = "TOO_DEEP"
    #: The line is over the limit.
    #: Split the case, or raise `WEIGHBRIDGE_LINE_LIMIT_BYTES`.
    LINE_TOO_LONG = "LINE_TOO_LONG"
    #: JSON, but an array, a string, a number or null.
    #: Write one case per line.
    NOT_AN_OBJECT = "NOT_AN_OBJECT"
    #: A row of a table has more or fewer cells than the header, or quotes in the wrong place.
    #: Put quotes around cells that hold the separator or a line break.
    INVALID_ROW = "INVALID_ROW"
    #: The row cannot be joined: it has no valid key, or one that no row of the joined file has.
    #: Correct the key, or add a row with it to the joined file.
    UNMATCHED_ROW = "UNMATCHED_ROW"
    #: `custom_id`, `inputs`, or one of the grader's inputs is missing.
    #: The hint of the error names what is needed.
    MISSING_FIELD = "MISSING_FIELD"
    #: The row records an error in place of an answer: a request of a batch that failed or expired, a sample that ended early.
    #: The message quotes it. Run the request or the sample again.
    NO_ANSWER = "NO_ANSWER"
    #: A database of an agent holds no session in which something was said.
    #: Give one with sessions.
    NO_SESSIONS = "NO_SESSIONS"
    #: Neither the case nor its batch names a grader.
    #: Give the case a `grader`, or the batch one with `--grader ID`.
    NO_GRADER = "NO_GRADER"
    #: The case or its inputs have an unknown field.
    #: Check the spelling; put fields of your own into `metadata`.
    UNKNOWN_FIELD = "UNKNOWN_FIELD"
    #: A field has the wrong type or value.
    #: Compare it with the fields of a case.
    INVALID_FIELD = "INVALID_FIELD"
    #: Empty, over 256 characters, with control characters, or not a string.
    #: Use 1 to 256 characters, none of them a control character.
    INVALID_CUSTOM_ID = "INVALID_CUSTOM_ID"
    #: An earlier, different line has the same `custom_id`.
    #: Give each case an id of its own.
    ID_CONFLICT = "ID_CONFLICT"
    #: The input ends early or is damaged from here on: a compressed file, a JSON document, a quote in a table that is never closed.
    #: Create the file again; the lines before this one are graded, and no gate is met.
    INPUT_TRUNCATED = "INPUT_TRUNCATED"
    #: The batch is full, or the compressed input expands too much; the rest is not read.
    #: Submit the rest as another batch, or raise the limit.
    INPUT_TOO_LARGE = "INPUT_TOO_LARGE"
    #: Redis no longer has the line, or it cannot be read; its line number is then 0.
    #: Submit the case again.
    INPUT_LOST = "INPUT_LOST"
    #: No grader has that id where the job was graded.
    #: Check the spelling, or install the plug-in on the workers.
    UNKNOWN_GRADER = "UNKNOWN_GRADER"
    #: The grader refuses its configuration.
    #: `weighbridge graders show ID` lists the keys that it takes.
    INVALID_CONFIG = "INVALID_CONFIG"
    #: The grader raised an exception, or returned an invalid result.
    #: Correct the plug-in, then run `weighbridge retry`.
    GRADER_CRASHED = "GRADER_CRASHED"
    #: Producer and worker are of incompatible releases.
    #: Install the same release on both, then run `weighbridge retry`.
    SCHEMA_VERSION = "SCHEMA_VERSION"
    #: The job did not end within its deadline.
    #: Raise `WEIGHBRIDGE_JOB_DEADLINE_SECONDS`, or correct the grader.
    TIMEOUT = "TIMEOUT"
    #: The job took more memory than a worker child may have.
    #: Split the case, or raise `WEIGHBRIDGE_CHILD_MEMORY_LIMIT_BYTES`.
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    #: The worker process died three times while it graded this job.
    #: Grade the case on its own to find out why.
    WORKER_KILLED = "WORKER_KILLED"
    #: The batch was cancelled before the job was graded.
    #: `weighbridge retry` grades it after all.
    CANCELLED = "CANCELLED"
    #: The batch expired before the job was graded.
    #: `weighbridge retry`; `WEIGHBRIDGE_BATCH_EXPIRY_SECONDS` gives more time.
    EXPIRED = "EXPIRED"


#: Errors of jobs that were given up: they crashed their worker process, timed out or took too much memory.
DEADLY = frozenset({ErrorCode.WORKER_KILLED, ErrorCode.TIMEOUT, ErrorCode.OUT_OF_MEMORY})
#: Errors of the line from which on an input was not read, so that an unknown number of cases is missing.
UNREAD_INPUT = frozenset({ErrorCode.INPUT_TRUNCATED, ErrorCode.INPUT_TOO_LARGE})
#: Errors that may not occur again in a retry or on another worker.
RETRYABLE = frozenset(
    {
        ErrorCode.UNKNOWN_GRADER,
        ErrorCode.GRADER_CRASHED,
        ErrorCode.SCHEMA_VERSION,
        ErrorCode.TIMEOUT,
        ErrorCode.OUT_OF_MEMORY,
        ErrorCode.WORKER_KILLED,
        ErrorCode.CANCELLED,
        ErrorCode.EXPIRED,
    }
)
#: What the hints of errors say about an ended batch.
RETRY_REOPENS = (
    "`retry` opens it again if it has jobs that were cancelled, expired or had a temporary error"
)
