"""The results of a whole session: outputs, gates, and the summary at the end."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from weighbridge.errors import OutputError, WeighbridgeError
from weighbridge.jobs.result_line import ResultRow
from weighbridge.text import printable
from weighbridge_producer.gating.exit_status import decide
from weighbridge_producer.gating.gates import PASSED, GateKind, parse_gate
from weighbridge_producer.gating.slices import slices_of_file
from weighbridge_producer.pytest_plugin.summary import prefixed, summary_lines
from weighbridge_producer.reports.forms import STDOUT, Output, output_of
from weighbridge_producer.reports.overview import Survey, survey
from weighbridge_producer.reports.report import Report
from weighbridge_producer.run.outputs import check_targets, write

if TYPE_CHECKING:
    from weighbridge_producer.gating.exit_status import Decision
    from weighbridge_producer.gating.gates import Gate

_ENDED = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}


class SessionResults:
    """Results on disk, in the order in which tests finished; the outputs are in collection order."""

    def __init__(self, config: pytest.Config) -> None:
        try:
            self._gates = _gates(config)
            self._outputs = _outputs(config)
        except WeighbridgeError as error:
            raise pytest.UsageError(f"weighbridge: {error}") from None
        self._name = config.rootpath.name or "pytest"
        self._folder = TemporaryDirectory(prefix="weighbridge-pytest-")
        self._file = (Path(self._folder.name) / "as_they_came.jsonl").open("w+b")
        self._order: list[tuple[int, int, int]] = []  #: the test's position, offset, bytes
        self._survey = Survey()
        self._decision: Decision | None = None
        self._has_failed_tests = False

    def add(self, results: list[Any]) -> None:
        """Store the results of a test: its position in the session, then result lines."""
        test_index, *lines = results
        for line in lines:
            data = line.encode()
            self._order.append((test_index, self._file.tell(), len(data)))
            self._file.write(data)

    def finish(self, exitstatus: int) -> int:
        """Write the outputs, apply the gates, and return the session's exit status."""
        file = self._sorted()
        slices = slices_of_file(file, [gate.field for gate in self._gates if gate.field])
        self._survey = survey(Report(file, self._name))
        self._has_failed_tests = exitstatus == pytest.ExitCode.TESTS_FAILED
        incomplete = "" if exitstatus in _ENDED else "the session did not end"
        self._decision = prefixed(
            decide(self._gates, self._survey.labels(), slices, incomplete=incomplete)
        )
        report = Report(
            file, self._name, gates=tuple(self._decision.gates), ungradable_is_error=True
        )
        for output in self._outputs:
            write(report, output)
        failed = self._decision.status != PASSED and exitstatus == pytest.ExitCode.OK
        return int(pytest.ExitCode.TESTS_FAILED) if failed else exitstatus

    def tell(self, reporter: pytest.TerminalReporter) -> None:
        """Print the summary."""
        if self._decision is None:
            return
        reporter.section("weighbridge")
        for line in summary_lines(self._survey, self._decision):
            reporter.write_line(line)
        if self._decision.reason and (self._gates or not self._has_failed_tests):
            reason = printable(self._decision.reason)
            reporter.write_line(f"weighbridge: {reason}", red=True)
        if self._outputs:
            reporter.write_line(f"results: {', '.join(each.target for each in self._outputs)}")

    def close(self) -> None:
        """Remove the temporary files."""
        self._file.close()
        self._folder.cleanup()

    def _sorted(self) -> Path:
        """Write the results in collection order, with line numbers, to a new file."""
        target = Path(self._folder.name) / "results.jsonl"
        with target.open("wb") as file:
            for number, (_, offset, size) in enumerate(sorted(self._order), start=1):
                self._file.seek(offset)
                row = ResultRow.from_bytes(self._file.read(size))
                file.write(msgspec.structs.replace(row, line=number).to_bytes())
        self._file.seek(0, 2)
        return target


def _gates(config: pytest.Config) -> list[Gate]:
    return [
        parse_gate(kind, text)
        for kind in GateKind
        for text in config.getoption("weighbridge_" + kind.removeprefix("--").replace("-", "_"))
    ]


def _outputs(config: pytest.Config) -> list[Output]:
    """Return the outputs with absolute paths, because a test may change the working directory."""
    texts = list(dict.fromkeys(config.getoption("weighbridge_out")))
    check_targets(texts)
    outputs = list(map(output_of, texts))
    if any(output.target == STDOUT for output in outputs):
        raise OutputError("pytest uses standard output itself", "name a file")
    folder = config.invocation_params.dir
    return [output._replace(target=str(folder / output.target)) for output in outputs]
