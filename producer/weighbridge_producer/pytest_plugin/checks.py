"""The fixture: grades one output or trace in the test's process."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from weighbridge.errors import Fault, InputError, LineError, WeighbridgeError
from weighbridge.grading.case import parse_case
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

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.grading.case import Case
    from weighbridge_producer.input.source_lines import SourceLine

_IDS_CHARACTERS = 300  #: of the ids that a message lists


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

        `trace` is a trace as JSON data, or the path of a file, a database or a folder, relative to the test's folder, of
        whose traces `custom_id` names one if there are several. The result is recorded under `custom_id`, by default the
        test's own id. Raises NotGradedError if the inputs cannot be judged.
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
                inputs["trace"] = _trace_in(self._folder / inputs["trace"], custom_id)
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


def _trace_in(path: Path, custom_id: str) -> Any:
    """Return the only trace in a file or folder, or the one of an id, as JSON data; raise WeighbridgeError if there is none."""
    # The methods of Path raise OSError for some names, such as very long ones.
    if not (os.path.isfile(path) or os.path.isdir(path)):  # noqa: PTH112, PTH113
        raise InputError(
            f"there is no file or folder {shorten(str(path), 200)!r}",
            "name it from the folder of the test",
        )
    found = [line for line in Source(path, read_settings()) if line.fault or line.raw.strip()]
    if len(found) == 1:
        [line] = found
        if line.fault:
            raise InputError(line.fault.message, line.fault.hint)
        return parse_case(line.raw, (), needs_grader=False).inputs.get("trace")
    cases = _cases_in(found)
    if custom_id in cases:
        return cases[custom_id].inputs.get("trace")
    named = "" if not custom_id else f", and none with the custom_id {shorten(custom_id, 80)!r}"
    hint = "give one: a dict, or a list of messages"
    if cases:
        known = shorten(", ".join(cases), _IDS_CHARACTERS)
        hint = f"name one by its custom_id: {known}"
    raise InputError(f"{str(path)!r} has {len(found):,} traces{named}", hint)


def _cases_in(lines: Iterable[SourceLine]) -> dict[str, Case]:
    """Return the cases that can be read, by their ids."""
    cases: dict[str, Case] = {}
    for line in lines:
        if not line.fault:
            with suppress(LineError):
                case = parse_case(line.raw, (), needs_grader=False)
                cases.setdefault(case.custom_id, case)
    return cases
