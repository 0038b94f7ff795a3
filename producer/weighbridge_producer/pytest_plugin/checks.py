"""The fixture: grades one output or trace in the test's process."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from weighbridge.errors import Fault, InputError, WeighbridgeError
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge.settings import read_settings
from weighbridge.text import printable, shorten
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.source_lines import encode_case
from weighbridge_producer.pytest_plugin.messages import message_of


class _Shared(NamedTuple):
    """State common to all tests of a process."""

    grader: LineGrader
    test_indices: Mapping[str, int]  #: each test's position in collection order, by node id


_SHARED = pytest.StashKey[_Shared]()


class NotGradedError(Exception):
    """Raised in a test when an output cannot be judged: it is ungradable, or grading failed with an error."""

    __module__ = "builtins"  # shortens the name in pytest's output
    weighbridge_not_graded = True


class Checks:
    """The fixture's value: `check` asserts that a result passes, `collect` leaves it to the session's gates."""

    def __init__(self, name: str, test_index: int, folder: Path, grader: LineGrader) -> None:
        self._name = name  #: of the test
        self._test_index = test_index  #: in the session's collection order
        self._folder = folder  #: of the test's file
        self._grader = grader
        self._graded: list[str] = []
        self._used: dict[tuple[str, str], int] = {}

    def check(
        self,
        grader: str,
        /,
        *,
        config: Mapping[str, Any] | None = None,
        label: str = "",
        custom_id: str = "",
        metadata: Mapping[str, Any] | None = None,
        **inputs: Any,
    ) -> ResultRow:
        """Grade the inputs and return the result; raise AssertionError with the evidence if it fails.

        `trace` is a path, relative to the test's folder, or a trace as JSON data. The result is recorded under
        `custom_id`, by default the test's own id. Raises NotGradedError if the inputs cannot be judged.
        """
        __tracebackhide__ = True
        row = self._result(GraderSpec(grader, config, label), custom_id, metadata, inputs)
        if row.outcome is Outcome.PASSED:
            return row
        if row.outcome is Outcome.FAILED:
            raise AssertionError(message_of(row))
        raise NotGradedError(message_of(row))

    def collect(
        self,
        grader: str,
        /,
        *,
        config: Mapping[str, Any] | None = None,
        label: str = "",
        custom_id: str = "",
        metadata: Mapping[str, Any] | None = None,
        **inputs: Any,
    ) -> ResultRow:
        """Grade the inputs and return the result, passing or not; the session's gates are applied to it at the end."""
        return self._result(GraderSpec(grader, config, label), custom_id, metadata, inputs)

    def taken(self) -> list[Any]:
        """Return the results since the last call: the test's position in the session, then result lines."""
        lines, self._graded = self._graded, []
        return [self._test_index, *lines] if lines else []

    def _result(
        self,
        spec: GraderSpec,
        custom_id: str,
        metadata: Mapping[str, Any] | None,
        inputs: dict[str, Any],
    ) -> ResultRow:
        faults: dict[int, Fault] = {}
        if isinstance(inputs.get("trace"), (str, Path)):
            try:
                inputs["trace"] = _trace_in(self._folder / inputs["trace"])
            except WeighbridgeError as error:
                # The result has to be counted, with its label and metadata, as an error of its only job.
                inputs["trace"], faults[0] = None, error.fault
        case = {
            "custom_id": custom_id or self._own_name(spec.label),
            "inputs": inputs,
            "graders": [spec.as_dict()],
            "metadata": metadata,
        }
        line = encode_case(case).as_job(1)
        result = self._grader.grade(line, Tally(), quarantined=faults)
        self._graded.append(result.decode())
        return ResultRow.from_bytes(result)

    def _own_name(self, label: str) -> str:
        """Return the test's name, with a number added if the test grades more than once under a label."""
        count = self._used[self._name, label] = self._used.get((self._name, label), 0) + 1
        number = f" #{count}" if count > 1 else ""
        return self._name[-(NAME_LIMIT - len(number)) :] + number


def checks_of(request: pytest.FixtureRequest) -> Checks:
    """Return the fixture's value for a test."""
    session, item = request.session, request.node
    shared = session.stash.get(_SHARED, None)
    if shared is None:
        test_indices = {each.nodeid: index for index, each in enumerate(session.items)}
        shared = session.stash[_SHARED] = _Shared(LineGrader(), test_indices)
    test_index = shared.test_indices.get(item.nodeid, 0)
    return Checks(printable(item.nodeid), test_index, request.path.parent, shared.grader)


def _trace_in(file: Path) -> Any:
    """Return the only trace in a file as JSON data; raise WeighbridgeError if it cannot be read, or has none or more than one."""
    from weighbridge.grading.case import parse_case

    # Path.is_file raises OSError for some names, such as very long ones.
    if not os.path.isfile(file):  # noqa: PTH113
        raise InputError(
            f"there is no file {shorten(str(file), 200)!r}", "name it from the folder of the test"
        )
    found = [line for line in Source(file, read_settings()) if line.fault or line.raw.strip()]
    if len(found) != 1:
        raise InputError(
            f"{str(file)!r} has {len(found):,} traces", "give one: a dict, or a list of messages"
        )
    [line] = found
    if line.fault:
        raise InputError(line.fault.message, line.fault.hint)
    return parse_case(line.raw, (), needs_grader=False).inputs.get("trace")
