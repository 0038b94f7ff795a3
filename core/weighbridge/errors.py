"""Every error that Weighbridge raises on purpose.

WeighbridgeError
├── ConfigError (ValueError)          a grader's configuration has an unknown key or a wrong value
├── ConfigTypeError (TypeError)       a grader's configuration has a value of the wrong type
│   └── GraderSpecError               a grader is specified with an unknown, missing or invalid field
├── UnknownGraderError (LookupError)  no grader has that id
├── LineError                         one line of input cannot become a job; the others still can
├── BatchError                        a problem with one batch
│   ├── BatchNotFoundError            Redis has no such batch
│   ├── BatchExpiredError             its time to live has passed
│   ├── BatchLostError                Redis should have it, but has lost it
│   ├── ChunkConflictError            two producers submit to one batch, or the input has changed
│   ├── BatchClosedError              it accepts no more jobs
│   ├── ResultsFreedError             some of its results are in the output of a run, and no longer in Redis
│   ├── InputsFreedError              its inputs are no longer in Redis
│   ├── ResultsIncompleteError        the number of collected results differs from the number of jobs
│   └── StaleCursorError              a cursor from before a retry, or from before Redis lost its last writes
├── TraceError                        a trace cannot be read
│   └── UnknownTraceFormatError       it is in no known format
├── InputError                        the input as a whole cannot be read
│   ├── MappingError                  a mapping of rows to cases is invalid, or does not fit the rows
│   ├── JoinError                     a file cannot be joined with the rows of the input
│   ├── MappingNeededError            the input has columns of its own, and no mapping to a case
│   ├── InvalidInputError             some of its lines cannot be graded, and it was submitted with `strict`
│   ├── NoCasesError                  the input has no cases
│   └── NoGraderError                 neither the submission nor the input names a grader
├── OutputError                       an output cannot be written
├── FileError (OSError)               the operating system refuses a file or folder that is neither input nor output
├── InvalidFilterError (ValueError)   a filter has a value that no result can have
├── InvalidGateError (ValueError)     a gate has an invalid share, label or field
├── InvalidKeyError (ValueError)      an API key cannot be made as asked
├── InvalidProjectError (ValueError)  a project cannot have that name
├── InvalidSettingError (ValueError)  an environment variable has a value that its setting cannot take
├── ServerError                       Redis cannot be found, refuses a command, or gives an invalid response
│   ├── ServerUnavailableError        nothing answers at the address of Redis
│   │   ├── ServiceUnavailableError   nothing answers at the address of the service
│   │   └── CertificateError          the certificate of Redis or of the service cannot be verified
│   ├── InvalidUrlError               a URL names neither a Redis server nor a service
│   └── ServerFullError               Redis has no memory left
├── RefusedError                      the service refuses a request for a reason specific to HTTP
├── NoSuchKeyError (LookupError)      no API key has that id
├── NoSuchResultError (LookupError)   the batch has no job under that id
├── NotDoneError (TimeoutError)       a batch did not end in the time to wait for it
├── NoSuchWorkerError (LookupError)   no running worker has that name
├── NoSuchQueueError (LookupError)    no worker reads a queue with that name, and no batch is in it
├── AddressError                      the service cannot listen on its address
├── InterruptionError                 a command was interrupted, by Ctrl-C or a signal
└── AccessError                       the service refuses the request to this caller
    ├── KeyRequiredError              no API key was sent
    ├── KeyRefusedError               the API key is unknown, revoked or expired
    ├── RoleTooLowError               the API key's role does not allow this
    ├── RateLimitedError              too many requests from one key or address
    └── TrialsBusyError               too many graders are being tried at once
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from weighbridge.text import closest, did_you_mean, pluralize, shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


_PLACE = re.compile(r"lines? |item [\d,]{1,20}: ")


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as data: a stable code, a message that says what is wrong and where, and a hint on how to fix it."""

    code: str
    message: str
    hint: str

    @property
    def names_line(self) -> bool:
        """Whether the message begins with the line of the input, which may hold several in one trace, or its item."""
        return bool(_PLACE.match(self.message))

    def at(self, location: str) -> Fault:
        """Return the fault with a location, if one is given."""
        return replace(self, message=f"{location}: {self.message}") if location else self

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class WeighbridgeError(Exception):
    """Base class of all errors; each has a fault, whose code is by default that of its class."""

    code: ClassVar[str] = "ERROR"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.fault = Fault(self.code, message, hint)

    @property
    def message(self) -> str:
        """What is wrong, and where."""
        return self.fault.message

    @property
    def hint(self) -> str:
        """How to fix it; empty if unknown."""
        return self.fault.hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ConfigError(WeighbridgeError, ValueError):
    """A grader's configuration has an unknown key or a wrong value."""

    code = "INVALID_CONFIG"
    path: tuple[str | int, ...] = ()  #: location in the configuration, if known


class ConfigTypeError(WeighbridgeError, TypeError):
    """A grader's configuration has a value of the wrong type."""

    code = "INVALID_CONFIG"
    path: tuple[str | int, ...] = ()  #: location in the configuration, if known


class GraderSpecError(ConfigTypeError):
    """A grader is specified with an unknown, missing or invalid field."""

    def __init__(
        self, line_code: str, message: str, hint: str = "", path: tuple[str | int, ...] = ()
    ) -> None:
        super().__init__(message, hint)
        self.line_code = line_code  #: code of a line with this error
        self.path = path  #: location in the list of graders


class UnknownGraderError(WeighbridgeError, LookupError):
    """No grader has that id."""

    code = "UNKNOWN_GRADER"
    grader_id: str = ""  #: the unknown id, if this process looked it up

    def __init__(self, grader_id: str, known: Iterable[str], hint: str = "") -> None:
        names = list(known)
        meant = did_you_mean(closest(grader_id, names)) or "."
        super().__init__(
            f"no grader {shorten(grader_id, 80, '...')!r}{meant} Known: {', '.join(names)}", hint
        )
        self.grader_id = grader_id


class LineError(WeighbridgeError):
    """One line of input cannot become a job; the others still can.

    Its fault has a code of its own, one of `weighbridge.jobs.error_codes.ErrorCode`.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.fault = Fault(code, message, hint)


class BatchError(WeighbridgeError):
    """A problem with one batch."""

    code = "BATCH_ERROR"


class BatchNotFoundError(BatchError, LookupError):
    """Redis has no such batch."""

    code = "BATCH_NOT_FOUND"


class BatchExpiredError(BatchError, LookupError):
    """The batch's time to live has passed, and Redis has dropped it."""

    code = "BATCH_EXPIRED"


class BatchLostError(BatchError):
    """Redis should have the batch, but has lost it."""

    code = "BATCH_LOST"


class ChunkConflictError(BatchError):
    """Two producers submit to one batch, or the input has changed."""

    code = "CHUNK_CONFLICT"


class BatchClosedError(BatchError):
    """The batch accepts no more jobs: it is sealed, cancelled, expired or failed."""

    code = "BATCH_CLOSED"


class ResultsFreedError(BatchError):
    """Redis no longer has all results: `weighbridge run` has written them to its output and deleted them."""

    code = "RESULTS_FREED"


class InputsFreedError(BatchError):
    """The inputs of the batch are no longer in Redis."""

    code = "INPUTS_FREED"

    def __init__(self, batch_id: str) -> None:
        super().__init__(
            f"the inputs of batch {batch_id[:80]!r} are no longer in Redis",
            "use the input that was submitted",
        )


class ResultsIncompleteError(BatchError):
    """The number of collected results differs from the number of jobs."""

    code = "RESULTS_INCOMPLETE"


class StaleCursorError(BatchError):
    """The cursor is from before a retry, or from before Redis lost its last writes."""

    code = "STALE_CURSOR"


class TraceError(WeighbridgeError):
    """A trace cannot be read: it is damaged, or not one trace."""

    code = "TRACE_UNREADABLE"
    step: int | None = None  #: number of the step that is wrong, from 1, if known
    path: str | None = (
        None  #: its field, or that of the trace, if known, such as `usage.input_tokens`
    )


class UnknownTraceFormatError(TraceError):
    """The trace is in no known format; `weighbridge trace map FILE` drafts a mapping for one of your own."""

    code = "UNKNOWN_TRACE_FORMAT"


class InputError(WeighbridgeError):
    """The input, or a file of results, cannot be read as a whole: it is missing, refused or of another form."""

    code = "INPUT_UNREADABLE"


class MappingError(InputError):
    """A mapping of rows to cases is invalid, or does not fit the rows."""

    code = "INVALID_MAPPING"


class JoinError(InputError):
    """A file cannot be joined with the rows of the input."""

    code = "INVALID_JOIN"


class MappingNeededError(InputError):
    """The input has rows with columns of their own, and no mapping to the fields of a case."""

    code = "MAPPING_NEEDED"

    def __init__(self, name: str, what: str, hint: str = "") -> None:
        super().__init__(
            f"{name!r} is {what}, and no mapping says which of its columns are the fields of a case",
            hint
            or "map them with custom_id=COLUMN,agent_response=COLUMN,expected_output=COLUMN, which the command line takes as"
            " --map and a Source in Python as parse_mapping([...])",
        )


class NoCasesError(InputError):
    """The input has no cases."""

    code = "NO_CASES"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} has no cases",
            "no batch is left of it; see why what should yield them is empty",
        )


class NoGraderError(InputError):
    """Neither the submission nor the input names a grader."""

    code = "NO_GRADER"

    def __init__(self, cases: int, asked: str = "command") -> None:
        """Name what was `asked`, a command, a request or a submission in Python, and the number of cases that were looked at."""
        looked_at = "the case names none" if cases == 1 else f"the first {cases:,} cases name none"
        super().__init__(
            f"no grader is named: the {asked} names none, and {looked_at}",
            "give graders=['ID'], or give each case a 'grader'; `graders()` of the client lists them"
            if asked == "submission"
            else "name one with --grader ID or --graders FILE, or give each case a 'grader'; "
            "`weighbridge graders` lists them",
        )


class BadLine(NamedTuple):
    """A line of input that cannot be graded."""

    number: int  #: from 1
    fault: Fault
    location: str = ""  #: file and line number, if the input has several files

    def __str__(self) -> str:
        hint = f" ({self.fault.hint})" if self.fault.hint else ""
        return f"{self.location or f'line {self.number}'}: {self.fault}{hint}"


class InvalidInputError(InputError):
    """Some lines of the input cannot be graded, and it was submitted with `strict`."""

    code = "INPUT_INVALID"
    bad_lines: tuple[BadLine, ...] = ()  #: the first ones, if this process read the input
    total: int = 0  #: number of lines that cannot be graded

    def __init__(self, name: str, bad_lines: Sequence[BadLine], total: int) -> None:
        left = total - len(bad_lines)
        more = f"\n... and {left:,} more" if left > 0 else ""
        shown = "".join(f"\n{line}" for line in bad_lines)
        super().__init__(
            f"nothing was submitted: {pluralize(total, 'line')} of {name!r} cannot be graded:{shown}{more}"
        )
        self.bad_lines = tuple(bad_lines)
        self.total = total


class OutputError(WeighbridgeError):
    """An output cannot be written."""

    code = "OUTPUT_UNWRITABLE"


class FileError(WeighbridgeError, OSError):
    """The operating system refuses a file or folder that is neither input nor output, such as that of the baselines."""

    code = "FILE_ERROR"


class InvalidFilterError(WeighbridgeError, ValueError):
    """A filter has a value that no result can have."""

    code = "INVALID_FILTER"


class InvalidGateError(WeighbridgeError, ValueError):
    """A gate has an invalid share, or does not name a label or field."""

    code = "INVALID_GATE"


class InvalidKeyError(WeighbridgeError, ValueError):
    """An API key cannot be made as asked."""

    code = "INVALID_KEY"


class NoSuchKeyError(WeighbridgeError, LookupError):
    """No API key has that id."""

    code = "NO_SUCH_KEY"

    def __init__(self, key_id: str) -> None:
        super().__init__(
            f"there is no API key {key_id[:80]!r}", "`weighbridge keys list` shows all"
        )


class InvalidProjectError(WeighbridgeError, ValueError):
    """A project cannot have that name."""

    code = "INVALID_PROJECT"


class InvalidSettingError(WeighbridgeError, ValueError):
    """An environment variable has a value that its setting cannot take."""

    code = "INVALID_SETTING"


class ServerError(WeighbridgeError):
    """Redis cannot be found, refuses a command, or gives an invalid response."""

    code = "REDIS_ERROR"


class ServerUnavailableError(ServerError):
    """Nothing answers at the address of Redis."""

    code = "REDIS_UNAVAILABLE"


class ServiceUnavailableError(ServerUnavailableError):
    """Nothing answers at the address of the service."""

    code = "SERVICE_UNAVAILABLE"


class CertificateError(ServerUnavailableError):
    """The TLS certificate of Redis or of the service cannot be verified."""

    code = "CERTIFICATE_INVALID"

    @staticmethod
    def reason_in(error: BaseException) -> str:
        """Return why a certificate could not be verified, if that caused an error; otherwise an empty text."""
        from ssl import SSLCertVerificationError

        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, SSLCertVerificationError):
                return cause.verify_message
            cause = cause.__cause__ or cause.__context__
        return ""


class InvalidUrlError(ServerError):
    """The URL names neither a Redis server nor a service."""

    code = "INVALID_URL"


class ServerFullError(ServerError):
    """Redis has no memory left."""

    code = "REDIS_FULL"


class RefusedError(WeighbridgeError):
    """The service refuses a request for a reason specific to HTTP: for instance, it is too large."""

    code = "REQUEST_REFUSED"

    def __init__(self, message: str, hint: str = "", *, problem: str = "", status: int = 0) -> None:
        super().__init__(message, hint)
        self.problem = problem  #: code of the service's problem document
        if problem:
            self.fault = replace(self.fault, code=problem)
        self.status = status  #: HTTP status


class NoSuchResultError(WeighbridgeError, LookupError):
    """The batch has no job under that id, or it is not finished yet."""

    code = "NO_SUCH_RESULT"


class NotDoneError(WeighbridgeError, TimeoutError):
    """The batch did not end in the time to wait for it."""

    code = "NOT_DONE"


class NoSuchWorkerError(WeighbridgeError, LookupError):
    """No running worker has that name."""

    code = "NO_SUCH_WORKER"


class NoSuchQueueError(WeighbridgeError, LookupError):
    """No worker reads a queue with that name, and no batch is in it."""

    code = "NO_SUCH_QUEUE"

    def __init__(self, queue: str, known: Collection[str]) -> None:
        super().__init__(
            f"no worker reads a queue {queue[:80]!r}, and no recent batch is in it"
            + did_you_mean(closest(queue, known)),
            f"queues: {', '.join(sorted(known))}",
        )


class AddressError(WeighbridgeError):
    """The service cannot listen on its address."""

    code = "ADDRESS_UNAVAILABLE"


class InterruptionError(WeighbridgeError):
    """A command was interrupted, by Ctrl-C or a signal."""

    code = "INTERRUPTED"


class AccessError(WeighbridgeError):
    """The service refuses the request to this caller."""

    code = "ACCESS_REFUSED"


class KeyRequiredError(AccessError):
    """No API key was sent."""

    code = "KEY_REQUIRED"

    def __init__(self, role: str) -> None:
        super().__init__(
            f"this needs an API key with the role {str(role)!r}",
            "set WEIGHBRIDGE_API_KEY for commands and Python, send it as `Authorization: Bearer KEY`, or sign in at /sign-in;"
            " `weighbridge keys make` creates a key",
        )


class KeyRefusedError(AccessError):
    """The API key is unknown, revoked or expired."""

    code = "KEY_REFUSED"

    def __init__(self) -> None:
        super().__init__(
            "the API key is not known: it is mistyped, revoked or expired",
            "`weighbridge keys list` shows those that are valid",
        )


class RoleTooLowError(AccessError):
    """The API key's role does not allow this."""

    code = "ROLE_TOO_LOW"

    def __init__(self, role: str, needed: str) -> None:
        super().__init__(
            f"the API key's role is {str(role)!r}, and this needs {str(needed)!r}",
            f"use a key with that role; `weighbridge keys make NAME --role {needed}` creates one",
        )


class RateLimitedError(AccessError):
    """Too many requests come from one key or address."""

    code = "RATE_LIMITED"
    retry_after_seconds: int = 0

    def __init__(self, most: int, retry_after_seconds: int) -> None:
        super().__init__(
            f"the limit of {pluralize(most, 'request')} per minute is reached",
            f"try again in {retry_after_seconds} s; WEIGHBRIDGE_RATE_LIMIT_PER_MINUTE sets the limit",
        )
        self.retry_after_seconds = retry_after_seconds


class TrialsBusyError(AccessError):
    """No process is free to try a grader: too many requests came at once, or none can be started."""

    code = "TRIALS_BUSY"

    def __init__(self, message: str) -> None:
        super().__init__(
            message, "try again in a few seconds, or submit a batch, which has no such limit"
        )
