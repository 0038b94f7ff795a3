"""Pass rates under other limits, computed from the measurements in the results without grading again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InputError, InvalidFilterError
from weighbridge.graders.base import Verdict
from weighbridge.graders.budget.limit_table import LIMITS, PER_TOOL, check_of_tool
from weighbridge.graders.registry import default_registry
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.statistics import Interval, wilson_interval
from weighbridge_producer.tool_limits import BUDGET, ToolLimit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.jobs.result_line import ResultRow

SCORE = "score"  #: a parameter for all graders: the lowest passing score
_PER_TOOL = check_of_tool("")
#: The limits of `budget` on whole runs, and the fields in its details with the measured values.
_MEASURED = {name: limit.measured for name, limit in LIMITS.items() if name != PER_TOOL}
#: The parameters that a sweep can vary, each with the grader that has it.
PARAMS = {
    **dict.fromkeys(_MEASURED, BUDGET),
    _PER_TOOL: f"{BUDGET}, followed by a tool",
    SCORE: "any grader",
}
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_LABELS_LIMIT = 20  #: labels that are told apart without a choice of one
_DISTINCT_LIMIT = 200_000  #: distinct measurements; when there are more, they are rounded
_DIGITS = 4
_PLAIN_DIGITS = 10  #: measurements with more are shortened when they become limits
_ALL_DIGITS = 17  #: with which every float can be written


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measurement in a result that a limit applies to, and the outcome of its other checks."""

    observed: float | None  #: None if unknown
    is_whole: bool  #: True if exact, False if a lower bound
    rest: Verdict  #: verdict of the other checks alone


@dataclass(frozen=True, slots=True)
class Candidate:
    """The counts of verdicts under a limit."""

    limit: float
    passed: int
    failed: int
    ungradable: int

    @property
    def rate(self) -> float | None:
        """The pass rate of the judged results; None if there are none."""
        judged = self.passed + self.failed
        return self.passed / judged if judged else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's interval of the rate."""
        return wilson_interval(self.passed, self.passed + self.failed)

    def as_dict(self) -> dict[str, Any]:
        """Return the candidate in its JSON form."""
        return {
            "limit": self.limit,
            "passed": self.passed,
            "failed": self.failed,
            "ungradable": self.ungradable,
            "rate": self.rate,
            "interval": list(self.interval) if self.interval else None,
        }


@dataclass(slots=True)
class Sweep:
    """The measurements in one label's results, to which other limits can be applied."""

    label: str
    param: str
    results: int = 0  #: graded results
    ungraded: int = 0  #: results of the label that are excluded: errored, cancelled, expired
    is_rounded: bool = False  #: True if there were too many distinct measurements
    #: The limits with which the results were graded.
    limits: Counter[float] = field(default_factory=Counter)
    _tool: ToolLimit = field(init=False)
    _measured: Counter[Measurement] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._tool = ToolLimit(self.param.removeprefix(_PER_TOOL))

    @property
    def at_least(self) -> bool:
        """True if the limit is a minimum, as for scores; False if it is a maximum."""
        return self.param == SCORE

    @property
    def uncalled(self) -> str:
        """A note, with the nearest name, if the limit is for a tool that no run calls; else empty."""
        is_of_a_tool = self.param.startswith(_PER_TOOL)
        return self._tool.note if self.results and is_of_a_tool else ""

    def add(self, row: ResultRow) -> None:
        """Count a result; raises InvalidFilterError if it has no measurement for the parameter."""
        if row.label != self.label:
            return
        if row.result is None:
            self.ungraded += 1
            return
        self.results += 1
        measurement = self._of_score(row) if self.at_least else self._of_limit(row)
        self._measured[measurement] += 1
        if len(self._measured) > _DISTINCT_LIMIT:
            self._round()

    def _of_score(self, row: ResultRow) -> Measurement:
        judged = row.verdict != Verdict.UNGRADABLE
        return Measurement(float(row.score or 0) if judged else None, judged, Verdict.PASS)

    def _of_limit(self, row: ResultRow) -> Measurement:
        if row.grader != BUDGET or not _is_limit(self.param):
            meant = _meant(self.param) if row.grader == BUDGET else None
            raise InvalidFilterError(
                f"results of {row.grader!r} do not show what other values of {self.param!r} would give"
                f"{did_you_mean(meant)}",
                f"--param can be, for {BUDGET}: {', '.join(_MEASURED)}, {_PER_TOOL}TOOL; for any grader: {SCORE}. For others,"
                " grade again with --config",
            )
        details = (row.result or {})["details"]
        limits = details.get("limits") or {}
        of_tools = (limits.get(PER_TOOL) or {}).items()
        limits = limits | {check_of_tool(tool): most for tool, most in of_tools}
        if self.param in limits:
            self.limits[limits[self.param]] += 1
        if self.param.startswith(_PER_TOOL):
            self._tool.add(details)
        observed, is_whole = _observed(self.param, details)
        own = next((check for check in row.evidence if check["check"] == self.param), None)
        if own and own["passed"]:
            # The value that was compared with the limit, also of a tool that the details do not list.
            observed, is_whole = own.get("observed") or 0, True
        rest = [check for check in row.evidence if check["check"] != self.param]
        return Measurement(_number(observed), is_whole and observed is not None, _verdict_of(rest))

    def _round(self) -> None:
        """Round each measurement to four digits, in the direction of failing."""
        rounded: Counter[Measurement] = Counter()
        for found, jobs in self._measured.items():
            observed = None if found.observed is None else self._rounded(found.observed)
            rounded[Measurement(observed, found.is_whole, found.rest)] += jobs
        self._measured, self.is_rounded = rounded, True

    def _rounded(self, value: float) -> float:
        if not value:
            return value
        unit = 10.0 ** (floor(log10(abs(value))) + 1 - _DIGITS)
        return (floor if self.at_least else ceil)(value / unit) * unit

    def at(self, limit: float) -> Candidate:
        """Return the counts of verdicts under a limit."""
        verdicts: Counter[Verdict] = Counter()
        for found, jobs in self._measured.items():
            verdicts[self._verdict(found, limit)] += jobs
        return Candidate(
            limit, verdicts[Verdict.PASS], verdicts[Verdict.FAIL], verdicts[Verdict.UNGRADABLE]
        )

    def _verdict(self, found: Measurement, limit: float) -> Verdict:
        observed = found.observed
        exceeds = observed is not None and (observed < limit if self.at_least else observed > limit)
        if exceeds or found.rest is Verdict.FAIL:
            return Verdict.FAIL
        return found.rest if found.is_whole else Verdict.UNGRADABLE

    def candidates(self, limits: Iterable[float] = ()) -> list[Candidate]:
        """Return the counts under the given limits or, by default, under quantiles of the measurements.

        Raises ConfigError or ConfigTypeError for a limit that `budget` refuses, and InvalidFilterError for an impossible score.
        """
        limits = set(limits)
        for limit in limits:
            _check_limit(self.param, limit)
        chosen = sorted(limits) or self._quantiles()
        return [self.at(limit) for limit in chosen]

    def _quantiles(self) -> list[float]:
        """Return the measurements at some quantiles, and the limits with which the results were graded."""
        values: Counter[float] = Counter()
        for found, jobs in self._measured.items():
            if found.observed is not None:
                values[found.observed] += jobs
        ordered = sorted(values.items())
        total, seen, chosen = values.total(), 0, set()
        wanted = list(_QUANTILES)
        for value, jobs in ordered:
            seen += jobs
            while wanted and seen >= wanted[0] * total:
                chosen.add(value)
                wanted.pop(0)
        measured = [value for value, _ in ordered]
        short = {self._shortest(value, measured) for value in chosen}
        return sorted(short | {limit for limit, _ in self.limits.most_common(3)})

    def _shortest(self, value: float, measured: list[float]) -> float:
        """Return a limit that judges all measurements, which are sorted, as a measured one does: the same one, unless it is long.

        A long one is rounded in the direction of passing, to as few digits as tell it from the next measurement, at least four.
        """
        if isinstance(value, int) or float(f"{value:.{_PLAIN_DIGITS}g}") == value:
            return value
        rounding = ROUND_FLOOR if self.at_least else ROUND_CEILING
        place = bisect_left if self.at_least else bisect_right
        for digits in range(_DIGITS, _ALL_DIGITS):
            limit = float(Context(digits, rounding).create_decimal(Decimal(value)))
            if place(measured, limit) == place(measured, value):
                return limit
        return value


def sweep_rows(rows: Iterable[ResultRow], param: str, label: str | None = None) -> Sweep:
    """Return the measurements of a label's results; by default, of the only label with results to which `param` applies.

    Raises InputError if no result qualifies, and InvalidFilterError if several labels do or no measurements are possible.
    """
    swept: dict[str, Sweep] = {}
    labels: dict[str, None] = {}
    for row in rows:
        name = row.label
        if not name or (name not in (*labels, label) and len(labels) >= _LABELS_LIMIT):
            continue
        labels[name] = None
        if name == label or (label is None and (row.grader == BUDGET or not _is_limit(param))):
            swept.setdefault(name, Sweep(name, param)).add(row)
    found = [each for each in swept.values() if each.results]
    if len(found) == 1:
        return found[0]
    names = [each.label for each in found] or labels
    known = f"labels: {', '.join(names) or 'none'}"
    if found:
        raise InvalidFilterError(
            f"{param!r} applies to results of several labels; choose one with --label", known
        )
    of = f"of {BUDGET!r}" if label is None else f"with the label {label!r}"
    raise InputError(f"no graded result {of}", known)


def _check_limit(param: str, limit: float) -> None:
    """Refuse a limit that no configuration can have; a score, which is in none, has to be one that a result can have."""
    if param == SCORE:
        if not 0 <= limit <= 1:
            raise InvalidFilterError(
                f"score must be from 0 to 1, not {limit:g}", "give such a --limit"
            )
        return
    # A count is an integer in a configuration, and a command line has only one type of number.
    value = int(limit) if limit.is_integer() else limit
    name, dot, tool = param.partition(".")
    default_registry().create(BUDGET, {name: {tool: value} if dot else value})


def _meant(param: str) -> str | None:
    """Return the nearest parameter that can be swept, unless one that cannot, of any grader, is nearer."""
    registry = default_registry()
    schemas = [registry.get(grader).config_schema() for grader in registry.ids()]
    others = [name for schema in schemas for name in schema.get("properties", {})]
    swept = [*_MEASURED, SCORE]
    nearest = closest(param, [*swept, *others])
    return nearest if nearest in swept else None


def _is_limit(param: str) -> bool:
    return param in _MEASURED or param.startswith(_PER_TOOL)


def _observed(param: str, details: dict[str, Any]) -> tuple[Any, bool]:
    """Return the value that `budget` measured for a limit, and whether it is exact, or counts as if it were."""
    partly = details.get("at_least") or []
    if param in _MEASURED:
        name = _MEASURED[param]
        if name in (details.get("ignored") or []):
            return details.get(name) or 0, True
        return details.get(name), name not in partly
    by_tool = details.get("tool_calls_by_tool")
    if by_tool is None:
        return None, False
    all_listed = len(by_tool) == details.get("tools_called")
    count = by_tool.get(param.removeprefix(_PER_TOOL), 0 if all_listed else None)
    return count, count is not None and "tool_calls_by_tool" not in partly


def _verdict_of(checks: list[Any]) -> Verdict:
    """Return the verdict of other checks; one that did not pass was exceeded, or could not be decided."""
    verdict = Verdict.PASS
    for check in checks:
        if check["passed"]:
            continue
        observed, limit = _number(check.get("observed")), _number(check.get("limit"))
        if observed is not None and limit is not None and observed > limit:
            return Verdict.FAIL
        verdict = Verdict.UNGRADABLE
    return verdict


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and isfinite(value) else None
