"""The `budget` grader: checks a run against limits of tokens, calls, steps, time and money."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from weighbridge.graders.base import (
    Evidence,
    GraderConfig,
    GraderRequirements,
    GraderResult,
    Verdict,
    graded,
)
from weighbridge.graders.budget.limit_table import LIMITS, PER_TOOL, check_of_tool
from weighbridge.graders.budget.limits import exact, judge
from weighbridge.graders.budget.measurements import ARITHMETIC, FIELDS, Measurements, as_number
from weighbridge.graders.budget.prices import Rates
from weighbridge.graders.budget.readings import Readings
from weighbridge.graders.config import parse_config
from weighbridge.graders.trace_grader import TraceGrader, bounded, lack_of

if TYPE_CHECKING:
    from weighbridge.traces import Capability, Trace

_Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
_REASON_CHARACTERS = 300  #: of a trace's reason for lacking data
_Quantity = Annotated[float, Field(ge=0)]
_Price = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]


class ModelPrices(GraderConfig):
    """Prices of a model in USD per million tokens."""

    input: _Price
    output: _Price
    cached_input: _Price | None = Field(default=None, description="else as input")
    cache_write: _Price | None = Field(default=None, description="else as input")
    cache_write_1h: _Price | None = Field(default=None, description="else as cache_write")

    def rates(self) -> Rates:
        """Return the prices as exact numbers."""
        given = (self.input, self.output, self.cached_input, self.cache_write, self.cache_write_1h)
        return Rates(*(None if price is None else Decimal(repr(price)) for price in given))


class BudgetConfig(GraderConfig):
    """The limits, of which at least one must be set; what equals a limit keeps it."""

    max_tokens: _Count | None = Field(
        default=None,
        description="all tokens: the total that each model call records, or its input and output tokens if there is "
        "no total or they are more",
    )
    max_input_tokens: _Count | None = Field(
        default=None, description="input tokens, cached ones included"
    )
    max_output_tokens: _Count | None = Field(default=None, description="output tokens")
    max_tool_calls: _Count | None = Field(
        default=None, description="steps of type `tool`; failed, retried and nested ones count"
    )
    max_tool_calls_per_tool: Annotated[dict[str, _Count], Field(min_length=1)] | None = Field(
        default=None,
        description='the same limit for single tools, by their exact names: `{"search": 3}`',
    )
    max_llm_calls: _Count | None = Field(default=None, description="steps of type `llm`")
    max_steps: _Count | None = Field(
        default=None, description="all steps of the trace, whatever their type"
    )
    max_duration_ms: _Quantity | None = Field(
        default=None,
        description="wall clock: from the first start to the last end, of the run and its steps",
    )
    max_step_latency_ms: _Quantity | None = Field(
        default=None,
        description="the slowest single step; a step that contains others, such as an agent's, does not count",
    )
    max_cost_usd: _Quantity | None = Field(default=None, description="what the run cost")
    prices: dict[str, ModelPrices] = Field(
        default={},
        description="prices of your own by the model's exact name in the trace, in USD per million tokens: "
        '`{"my-model": {"input": 0.5, "output": 2}}`, optionally with `cached_input`, `cache_write`, `cache_write_1h`; '
        "they override the table",
    )
    missing_usage: Literal["ungradable", "ignore"] = Field(
        default="ungradable",
        description='`"ignore"` judges by what is known if model calls do not record their tokens',
    )

    @model_validator(mode="after")
    def _want_a_limit(self) -> BudgetConfig:
        if not self.limits():
            raise ValueError(f"at least one limit is needed: {', '.join(LIMITS)}")
        return self

    def limits(self) -> dict[str, Any]:
        """Return the limits that are set."""
        given = ((name, getattr(self, name)) for name in LIMITS)
        return {name: limit for name, limit in given if limit is not None}

    def own_prices(self) -> dict[str, Rates]:
        """Return the configured prices as exact numbers, by model."""
        return {model: prices.rates() for model, prices in self.prices.items()}


class BudgetGrader(TraceGrader):
    """Passes when a run kept every limit."""

    id = "budget"
    name = "Budget"
    description = "Limits on the tokens, calls, steps, time and money that a run consumed"
    version = 15
    Config = BudgetConfig
    settings: BudgetConfig

    def prepare(self) -> None:
        """Convert the limits to exact numbers, with a separate entry for each tool."""
        limits = self.settings.limits()
        of_tools = limits.pop(PER_TOOL, {}).items()
        limits |= {check_of_tool(tool): limit for tool, limit in of_tools}
        self._limits = tuple((check, exact(limit)) for check, limit in limits.items())
        self._with_prices = self.settings.max_cost_usd is not None
        self._own_prices = self.settings.own_prices()
        self._ignores_missing = self.settings.missing_usage == "ignore"

    @classmethod
    def requirements(cls, config: dict[str, Any] | None = None) -> GraderRequirements:
        """Return the needs of a configuration's limits or, for None, of all limits.

        Raises ConfigError or ConfigTypeError.
        """
        names = LIMITS if config is None else parse_config(cls.Config, config, cls.id).limits()
        limits = [LIMITS[name] for name in names]
        types = dict.fromkeys(kind for limit in limits for kind in limit.step_types)
        needed = dict.fromkeys(limit.capability for limit in limits if limit.capability)
        return GraderRequirements(tuple(types), tuple(needed))

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return a run with two model calls and a tool call within its limits."""
        return {
            "config": {"max_tokens": 5000, "max_tool_calls": 10},
            "inputs": {"trace": deepcopy(_EXAMPLE)},
        }

    def judge(self, trace: Trace) -> GraderResult:
        """Check all limits; fail takes precedence over ungradable, and that over pass."""
        with localcontext(ARITHMETIC):
            measured = Measurements(
                trace, with_prices=self._with_prices, own_prices=self._own_prices
            )
            readings = self._readings(measured)
            findings = [judge(check, limit, readings.of(check)) for check, limit in self._limits]
            details = measured.details(readings.ignored())
        found = {finding.verdict for finding in findings}
        verdict = next(kind for kind in _BY_WEIGHT if kind in found)
        findings.sort(key=lambda finding: _BY_WEIGHT.index(finding.verdict))
        evidence = [finding.evidence for finding in findings]
        if verdict is Verdict.PASS and not any(finding.is_stated for finding in findings):
            evidence.append(_vacuous())
        return graded(
            verdict,
            {**details, "limits": self._limits_shown()},
            bounded(evidence, "checks"),
            min(finding.score for finding in findings if finding.verdict is verdict),
        )

    def blank_details(self) -> dict[str, object]:
        """Return the details of a trace that cannot be read, which are only the limits."""
        return {**dict.fromkeys(FIELDS), "limits": self._limits_shown()}

    def _limits_shown(self) -> dict[str, object]:
        shown: dict[str, object] = {
            name: as_number(limit) for name, limit in self._limits if name in LIMITS
        }
        of_tools = self.settings.max_tool_calls_per_tool
        return shown | ({PER_TOOL: dict(of_tools)} if of_tools else {})

    def _readings(self, measured: Measurements) -> Readings:
        def lacking(capability: Capability, in_part: bool) -> str:
            lack = lack_of(measured.trace, capability, in_part=in_part)
            return f"{lack[:_REASON_CHARACTERS]} ({capability})"

        return Readings(measured, lacking, ignores_missing=self._ignores_missing)


_BY_WEIGHT = (Verdict.FAIL, Verdict.UNGRADABLE, Verdict.PASS)


def _vacuous() -> Evidence:
    return {
        "check": "vacuous",
        "description": "nothing to check: the trace records none of the quantities that the limits apply to",
        "passed": True,
        "step_ids": [],
    }


_EXAMPLE: dict[str, Any] = {
    "format": "weighbridge",
    "id": "weather",
    "steps": [
        {"id": "s1", "type": "user", "output": "Will it rain in Oslo tomorrow?"},
        {
            "id": "s2",
            "type": "llm",
            "model": "gpt-4o",
            "usage": {"input_tokens": 1200, "output_tokens": 100},
        },
        {
            "id": "s3",
            "parent_id": "s2",
            "type": "tool",
            "name": "forecast",
            "arguments": {"city": "Oslo", "day": "tomorrow"},
            "output": "rain from 14:00",
        },
        {
            "id": "s4",
            "type": "llm",
            "model": "gpt-4o",
            "output": "Yes, from two in the afternoon.",
            "usage": {"input_tokens": 1600, "output_tokens": 100},
        },
    ],
}
