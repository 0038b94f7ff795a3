"""Cost of a run: from the trace's own figures or else from a table of prices."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weighbridge.graders.budget.consumption import (
    UNSTATED,
    AtLeast,
    Stated,
    Total,
    UsageSteps,
    stated_tokens,
    valid_count,
)
from weighbridge.graders.budget.prices import (
    OWN_PRICES,
    PricedModel,
    Unpriced,
    find_model,
    table_name,
)
from weighbridge.graders.budget.run_times import valid_times
from weighbridge.traces import Usage
from weighbridge.traces.fields import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weighbridge.graders.budget.prices import Rates
    from weighbridge.traces import Step, Trace

MODELS_LIMIT = 100  #: distinct models looked up per trace
_COST_LIMIT = 10**15  #: larger figures are implausible and ignored


class Cost(Struct, frozen=True):
    """The cost of a run in USD, and its source."""

    total: Total
    is_own: bool  #: True if the trace states any of it
    #: names of the trace's models in the table or in the configuration
    priced_as: dict[str, str] = {}  # a Struct gives each its own
    #: steps with tokens but without a price, by reason
    unpriced: dict[str, list[Step]] = {}

    @property
    def price_lists(self) -> list[str]:
        """The names of the price lists used."""
        is_own = {name.startswith(f"{OWN_PRICES}.") for name in self.priced_as.values()}
        return [name for own, name in ((True, OWN_PRICES), (False, table_name())) if own in is_own]


def own_cost(trace: Trace, usage_steps: UsageSteps) -> Cost:
    """Return the cost of a run stated in its trace; a lower bound if the run states none and its steps are not all."""
    by_run = _valid_amount(trace.cost_usd)
    total = usage_steps.total([_stated_cost(step) for step in usage_steps.steps], by_run)
    if by_run is None and _lack_calls(usage_steps, trace):
        total = replace(total, is_exact=False)
    return Cost(total, total.is_stated)


def cost(trace: Trace, usage_steps: UsageSteps, own_prices: Mapping[str, Rates]) -> Cost:
    """Return the cost of a run: stated in the trace or, for steps without a stated cost, computed from prices."""
    own = own_cost(trace, usage_steps)
    if own.total.is_exact and own.total.is_stated:
        return own
    pricing = _Pricing(trace, own.total.missing, own_prices)
    total = usage_steps.total([pricing.cost_of(step) for step in usage_steps.steps])
    if trace.usage is not None and (not total.is_stated or _state_less(usage_steps, trace.usage)):
        total = pricing.run_total(total, trace.usage)
    elif _lack_calls(usage_steps, trace):
        total = replace(total, is_exact=False)
    return Cost(total, own.is_own, pricing.priced_as, pricing.unpriced)


class _Pricing:
    """Prices of the steps of one trace without a stated cost."""

    def __init__(
        self, trace: Trace, unstated: Sequence[Step], own_prices: Mapping[str, Rates]
    ) -> None:
        self._trace = trace
        self._own_prices = own_prices
        (self._run_started,) = valid_times((trace.started_at,))
        self._unstated = {step.id for step in unstated}
        self._models: dict[str | None, PricedModel | Unpriced] = {}
        self.unpriced: dict[str, list[Step]] = {}

    @property
    def priced_as(self) -> dict[str, str]:
        """The trace's models with a price, and the source of the price."""
        return {
            name: model.name
            for name, model in self._models.items()
            if name and isinstance(model, PricedModel)
        }

    def cost_of(self, step: Step) -> Stated:
        """Return a step's stated cost, or else its price."""
        usage = step.usage
        if usage is None or step.id not in self._unstated:
            return _stated_cost(step)
        recorded = priceable(usage)
        if recorded is None:
            return UNSTATED
        started, ended = valid_times((step.started_at, step.ended_at))
        time = started or ended or self._run_started
        usd = self._usd(step.model, recorded, time, is_one_call=step.type == "llm")
        if isinstance(usd, Unpriced):
            self.unpriced.setdefault(usd.reason, []).append(step)
            return UNSTATED
        return usd if _is_whole(usage) else AtLeast(usd)

    def run_total(self, total: Total, usage: Usage) -> Total:
        """Return the price of the run's total usage, for its only model; at least that of its steps."""
        recorded = priceable(usage)
        if recorded is None:
            return replace(total, is_exact=False)
        usd = self._usd_of_run(recorded)
        if isinstance(usd, Unpriced):
            self.unpriced.setdefault(usd.reason, [])
            return replace(total, is_exact=False)
        total = replace(total, known=max(usd, total.known), is_stated=True)
        if not _is_whole(usage):
            return replace(total, is_exact=False)
        return replace(total, is_exact=True, missing=())

    def _usd_of_run(self, usage: Usage) -> Decimal | Unpriced:
        models = {step.model for step in self._trace.steps if step.model}
        if len(models) > 1:
            return Unpriced("several models are named, so the total of the run has no price")
        calls = sum(step.type == "llm" for step in self._trace.steps)
        model = models.pop() if models else None
        return self._usd(model, usage, self._run_started, is_one_call=calls == 1)

    def _usd(
        self, name: str | None, usage: Usage, at: int | None, *, is_one_call: bool
    ) -> Decimal | Unpriced:
        model = self._models.get(name)
        if model is None:
            if len(self._models) == MODELS_LIMIT:
                return Unpriced(f"more than {MODELS_LIMIT} models are named")
            model = self._models[name] = find_model(name, self._own_prices)
        return (
            model if isinstance(model, Unpriced) else model.usd(usage, at, is_one_call=is_one_call)
        )


def priceable(usage: Usage) -> Usage | None:
    """Return what of a usage has a price: its input, its output or both; None if it states at most their sum."""
    sent, received = valid_count(usage.input_tokens), valid_count(usage.output_tokens)
    if sent is None and received is None:
        return None
    if sent is not None:
        return usage
    return Usage(output_tokens=received)


def _is_whole(usage: Usage) -> bool:
    sent, received = valid_count(usage.input_tokens), valid_count(usage.output_tokens)
    return sent is not None and received is not None and not usage.is_partial


def _lack_calls(usage_steps: UsageSteps, trace: Trace) -> bool:
    """Return whether a model was used beyond the steps: the run has more tokens than all of them, or calls without a step."""
    if not usage_steps.steps:
        calls = trace.counts.llm_calls if trace.counts else None
        return bool(calls or counted(trace.usage))
    return trace.usage is not None and any(
        tokens > total.known
        for tokens, total in _tokens(usage_steps, trace.usage)
        if total.is_exact and total.is_stated
    )


def _state_less(usage_steps: UsageSteps, by_run: Usage) -> bool:
    """Return whether the steps state fewer tokens than the run, so that the sum of their prices is incomplete."""
    return any(tokens > total.known for tokens, total in _tokens(usage_steps, by_run))


def _tokens(usage_steps: UsageSteps, by_run: Usage) -> Iterator[tuple[int, Total]]:
    """Yield the input tokens that a run states, and the total of its steps; then the same of the output tokens."""
    columns = zip(*(stated_tokens(step.usage) for step in usage_steps.steps), strict=True)
    sent, received, _, _ = (usage_steps.total(stated) for stated in columns)
    yield valid_count(by_run.input_tokens) or 0, sent
    yield valid_count(by_run.output_tokens) or 0, received


def _stated_cost(step: Step) -> Stated:
    stated = _valid_amount(step.cost_usd)
    # A step with tokens has a cost, even if it is not a model call but contains calls missing in the trace.
    return UNSTATED if stated is None and step.usage is not None else stated


def _valid_amount(usd: object) -> Decimal | None:
    if (type(usd) is not float and type(usd) is not int) or not 0 <= usd <= _COST_LIMIT:
        return None
    # Decimal, so that ten times 0.1 is 1; digits beyond twelve are rounding errors of the source.
    return Decimal(f"{usd:.12g}")
