"""Options, hooks and the fixture, which pytest loads in every session; the other modules are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from weighbridge_producer.pytest_plugin.checks import Checks
    from weighbridge_producer.pytest_plugin.session import SessionResults

_SCOPED = "[SCOPE=]SHARE"
#: An attribute of test reports, which xdist transfers from its workers to the controller as JSON.
_RESULTS = "weighbridge_results"
_NOT_GRADED = "weighbridge_not_graded"
_CHECKS: pytest.StashKey[Checks] = pytest.StashKey()
_OPTIONS = tuple(
    f"weighbridge_{name}" for name in ("out", "min_pass_rate", "min_gradable", "max_vacuous")
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which begin with `--weighbridge-`."""
    group = parser.getgroup("weighbridge", "weighbridge: grade outputs and traces of agents")
    for name, metavar, what in (
        ("out", "FILE", "write all results: .jsonl, .csv, .tsv, .parquet, .md, .html, .xml"),
        ("min-pass-rate", _SCOPED, "this share (0.9 or 90%%) of the judged results has to pass"),
        ("min-gradable", _SCOPED, "this share of all results has to be judged"),
        ("max-vacuous", _SCOPED, "at most this share of the passes may be vacuous"),
    ):
        group.addoption(
            f"--weighbridge-{name}",
            action="append",
            default=[],
            metavar=metavar,
            help=f"{what}; repeatable.",
        )


def pytest_configure(config: pytest.Config) -> None:
    """Validate the options, and register the results collector unless this is an xdist worker."""
    if hasattr(config, "workerinput"):
        return
    collector = _Collector(config)
    if any(map(config.getoption, _OPTIONS)):
        collector.open()
    config.pluginmanager.register(collector, "weighbridge-collector")


@pytest.fixture
def weighbridge(request: pytest.FixtureRequest) -> Checks:
    """Grade outputs and traces: `weighbridge.check("string-match", agent_response=..., expected_output=...)`."""
    from weighbridge_producer.pytest_plugin.checks import checks_of

    checks = request.node.stash[_CHECKS] = checks_of(request)
    return checks


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outside pytest's own wrapper, which applies xfail
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the results of a test to its report, and report what could not be judged whatever xfail says."""
    report = yield
    if checks := item.stash.get(_CHECKS, None):
        setattr(report, _RESULTS, checks.taken())
        if call.excinfo and getattr(call.excinfo.value, _NOT_GRADED, False):
            setattr(report, _NOT_GRADED, True)
            report.outcome = "failed"
            report.__dict__.pop("wasxfail", None)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Report a test as an error instead of a failure if an output could not be judged."""
    if report.failed and getattr(report, _NOT_GRADED, False):
        return "error", "E", "ERROR"
    return None


class _Collector:
    """Collects the results of all tests in the process that reports on them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._results: SessionResults | None = None

    def open(self) -> SessionResults:
        """Return the session's results; the file for them is created on first use."""
        if self._results is None:
            from weighbridge_producer.pytest_plugin.session import SessionResults

            self._results = SessionResults(self._config)
        return self._results

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the results from a report."""
        results: list[Any] | None = report.__dict__.pop(_RESULTS, None)
        # Expected failures and tests to be rerun do not count in the session's rates.
        if results and report.outcome in {"passed", "failed"}:
            self.open().add(results)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the outputs, and fail the session if a gate is not met."""
        if self._results and not self._config.option.collectonly:
            session.exitstatus = self._results.finish(int(exitstatus))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary of the results."""
        if self._results:
            self._results.tell(terminalreporter)

    def pytest_unconfigure(self) -> None:
        """Remove the temporary files."""
        if self._results:
            self._results.close()
