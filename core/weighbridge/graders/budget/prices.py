"""Prices of model calls: from the configuration or else from the table in `genai-prices`.

The table is part of the installed package and is never fetched; the same version gives the same price everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from weighbridge.graders.budget.consumption import valid_count
from weighbridge.traces.fields import moment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

    from weighbridge.traces import Usage

    #: tiered prices depend on the call's input tokens
    Rate = Decimal | TieredPrices | None

#: 2026-11-01, noon UTC: assumed for calls without a time, because the current time would not be deterministic.
UNDATED = 1_793_534_400 * 10**9
_NAME_CHARACTERS = 200  #: limit of a model's name
_KNOWN_NAMES = 1_024  #: cached look-ups
_MILLION = 10**6
OWN_PRICES = "prices"  #: name of the configuration's field
_FREE = Decimal(0)


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices in USD per million tokens and per thousand requests; None if there is no separate price."""

    input: Rate = None
    output: Rate = None
    cached: Rate = None
    cache_write: Rate = None
    cache_write_1h: Rate = None
    request: Rate = None

    @property
    def depend_on_call(self) -> bool:
        """True if the price of tokens depends on the call."""
        rates = self.input, self.output, self.cached, self.cache_write, self.cache_write_1h
        return bool(self.request) or any(type(rate) is not Decimal for rate in rates if rate)


_NO_RATES = Rates()


@dataclass(frozen=True, slots=True)
class Unpriced:
    """The reason why a usage has no price."""

    reason: str


def find_model(
    name: str | None, own: Mapping[str, Rates] = MappingProxyType({})
) -> PricedModel | Unpriced:
    """Return the model with a name; prices in the configuration take precedence over the table."""
    if not name:
        return Unpriced("no model is named")
    if name in own:
        return PricedModel(f"{OWN_PRICES}.{name}", lambda _: own[name], own[name])
    found = _find(name) if len(name) <= _NAME_CHARACTERS else None
    return found or Unpriced(f"the model {name[:_NAME_CHARACTERS]!r} is not in the table of prices")


@cache
def table_name() -> str:
    """Return the name and version of the price table."""
    import genai_prices

    return f"genai-prices {genai_prices.__version__}"


class PricedModel:
    """A model with its prices over time."""

    def __init__(
        self, name: str, rates_at: Callable[[int | None], Rates], always: Rates | None = None
    ) -> None:
        self.name = name
        self._rates_at = rates_at
        self._always = always

    @classmethod
    def of_table(cls, provider: str, info: ModelInfo) -> PricedModel:
        """Return a model from the table."""
        prices = info.prices
        listed = [price.prices for price in prices] if isinstance(prices, list) else [prices]
        rates = {id(price): _rates_of(price) for price in listed}

        def rates_at(time: int | None) -> Rates:
            return rates[id(info.get_prices(moment_of(UNDATED if time is None else time)))]

        is_constant = not (isinstance(prices, list) and prices)
        always = rates.get(id(prices), _NO_RATES) if is_constant else None
        return cls(f"{provider}/{info.id}", rates_at, always)

    def usd(self, usage: Usage, at: int | None, *, is_one_call: bool = True) -> Decimal | Unpriced:
        """Return the price of a usage in USD at a time in nanoseconds; None means `UNDATED`.

        Input tokens read from or written to a cache have separate prices if there are any. The sum of several calls has
        no price if it depends on the size or number of the calls. Missing token counts are taken as 0.
        """
        return _usd(self._always or self._rates_at(at), usage, is_one_call)


def _rates_of(price: ModelPrice) -> Rates:
    return Rates(
        price.input_mtok,
        price.output_mtok,
        price.cache_read_mtok,
        price.cache_write_mtok,
        price.cache_write_1h_mtok,
        price.requests_kcount,
    )


def _usd(rates: Rates, usage: Usage, is_one_call: bool) -> Decimal | Unpriced:
    sent, received = valid_count(usage.input_tokens) or 0, valid_count(usage.output_tokens) or 0
    cached, written = (
        valid_count(usage.cached_tokens) or 0,
        valid_count(usage.cache_write_tokens) or 0,
    )
    if cached + written > sent:
        return Unpriced("more cached input tokens than input tokens are recorded")
    if not is_one_call and rates.depend_on_call:
        return Unpriced("its price depends on each call")
    of_input, of_output = _at(rates.input, sent), _at(rates.output, sent)
    if (of_input is None and sent) or (of_output is None and received):
        return Unpriced("there is no price for its tokens")
    of_input, of_output = of_input or _FREE, of_output or _FREE
    of_cached = _at_or(rates.cached, sent, of_input)
    of_written = _at_or(rates.cache_write, sent, of_input)
    for_hour = min(valid_count(usage.cache_write_1h_tokens) or 0, written)
    usd = (
        of_input * (sent - cached - written)
        + of_cached * cached
        + of_written * (written - for_hour)
        + _at_or(rates.cache_write_1h, sent, of_written) * for_hour
        + of_output * received
    ) / _MILLION
    return usd + (_at(rates.request, sent) or _FREE) / 1000 if rates.request else usd


def _at_or(rate: Rate, sent: int, other: Decimal) -> Decimal:
    return other if rate is None else _at(rate, sent) or _FREE


def _at(rate: Rate, sent: int) -> Decimal | None:
    """Return a rate for a call with `sent` input tokens."""
    return rate if rate is None or isinstance(rate, Decimal) else _unit_price()(rate, 1, sent, 1)


@cache
def _unit_price() -> Callable[[TieredPrices, int, int, int], Decimal]:
    from genai_prices.types import calc_unit_price

    return calc_unit_price


@lru_cache(maxsize=_KNOWN_NAMES)
def _find(model: str) -> PricedModel | None:
    """Return the model for a name with or without the provider as prefix."""
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    # A separate snapshot: another one in this process may have been updated, and snapshots cache all names forever.
    table = DataSnapshot(providers, from_auto_update=False, timestamp=moment_of(UNDATED))
    name = model.removeprefix("models/")  # the form in Gemini's API
    # LiteLLM's form is `provider/model` or the plain name; Bedrock's ids start with a region and a vendor.
    for way in ("litellm", "aws"):
        try:
            provider, info = table.find_provider_model(name, None, way, None)
        except LookupError:
            continue
        return PricedModel.of_table(provider.id, info)
    return None
