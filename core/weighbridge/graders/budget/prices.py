"""What a model call costs, by the table of prices that `genai-prices` ships.

The table is part of the installed package and is never fetched; the same version gives the same price everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from weighbridge.graders.budget.consumption import count_told
from weighbridge.traces.fields import moment_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from genai_prices.types import ModelInfo, TieredPrices

    from weighbridge.traces import Usage

    #: where it is not one figure, it depends on the call's input tokens
    Rate = Decimal | TieredPrices | None

#: 2026-11-01, noon UTC: the time of a call that tells none; prices change, and now is never the answer.
UNDATED = 1_793_534_400 * 10**9
_NAME_CHARACTERS = 200  #: no model has a longer name
_KNOWN_NAMES = 1_024  #: kept with what they were found to be
_MILLION = 10**6
_FREE = Decimal(0)


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Why something has no price."""

    reason: str


def find_model(name: str | None) -> PricedModel | Unpriced:
    """Return the model of that name, with its prices."""
    if not name:
        return Unpriced("no model is named")
    found = _find(name) if len(name) <= _NAME_CHARACTERS else None
    return found or Unpriced(f"the model {name[:_NAME_CHARACTERS]!r} is not in the table of prices")


@cache
def table_name() -> str:
    """Return the name and version of the table of prices."""
    import genai_prices

    return f"genai-prices {genai_prices.__version__}"


@dataclass(frozen=True, slots=True)
class _Rates:
    """Prices in USD of a million tokens each, and of a thousand requests; None where the table has none."""

    input: Rate
    output: Rate
    cached: Rate
    request: Rate

    @property
    def depend_on_call(self) -> bool:
        rates = self.input, self.output, self.cached
        return bool(self.request) or any(type(rate) is not Decimal for rate in rates if rate)


_NO_RATES = _Rates(None, None, None, None)


class PricedModel:
    """A model in the table, with its prices at every time."""

    def __init__(self, provider: str, info: ModelInfo) -> None:
        self.name = f"{provider}/{info.id}"
        self._info = info
        prices = info.prices
        listed = [price.prices for price in prices] if isinstance(prices, list) else [prices]
        self._rates = {
            id(price): _Rates(
                price.input_mtok, price.output_mtok, price.cache_read_mtok, price.requests_kcount
            )
            for price in listed
        }
        is_constant = not (isinstance(prices, list) and prices)
        self._always = self._rates.get(id(prices), _NO_RATES) if is_constant else None

    def usd(self, usage: Usage, at: int | None, *, is_one_call: bool = True) -> Decimal | Unpriced:
        """Return what tokens cost in USD at a time in nanoseconds; None is `UNDATED`, and tokens not told are none.

        Cached input tokens have their own price where the table has one. Tokens of several calls together have no
        price where it depends on the size or number of the calls.
        """
        return _usd(self._always or self._rates_at(at), usage, is_one_call)

    def _rates_at(self, time: int | None) -> _Rates:
        price = self._info.get_prices(moment_of(UNDATED if time is None else time))
        return self._rates[id(price)]


def _usd(rates: _Rates, usage: Usage, is_one_call: bool) -> Decimal | Unpriced:
    sent, received = count_told(usage.input_tokens) or 0, count_told(usage.output_tokens) or 0
    cached = count_told(usage.cached_tokens) or 0
    if cached > sent:
        return Unpriced("more cached input tokens are told than input tokens")
    if not is_one_call and rates.depend_on_call:
        return Unpriced("its price depends on each call")
    of_input, of_output = _at(rates.input, sent), _at(rates.output, sent)
    if (of_input is None and sent) or (of_output is None and received):
        return Unpriced("the table has no price of its tokens")
    of_input, of_output = of_input or _FREE, of_output or _FREE
    of_cached = of_input if rates.cached is None else _at(rates.cached, sent) or _FREE
    usd = (of_input * (sent - cached) + of_cached * cached + of_output * received) / _MILLION
    return usd + (_at(rates.request, sent) or _FREE) / 1000 if rates.request else usd


def _at(rate: Rate, sent: int) -> Decimal | None:
    """Return a rate in a call of that many input tokens."""
    return rate if rate is None or isinstance(rate, Decimal) else _unit_price()(rate, 1, sent, 1)


@cache
def _unit_price() -> Callable[[TieredPrices, int, int, int], Decimal]:
    from genai_prices.types import calc_unit_price

    return calc_unit_price


@lru_cache(maxsize=_KNOWN_NAMES)
def _find(model: str) -> PricedModel | None:
    """Return the model that a name stands for, whether it begins with the provider's name or not."""
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    # A snapshot of our own: another in the same process may have been fetched, and all remember every name for ever.
    table = DataSnapshot(providers, from_auto_update=False, timestamp=moment_of(UNDATED))
    name = model.removeprefix("models/")  # how Gemini's API writes them
    # LiteLLM's way is `provider/model` or the bare name; Bedrock's ids begin with a region and a vendor.
    for way in ("litellm", "aws"):
        try:
            provider, info = table.find_provider_model(name, None, way, None)
        except LookupError:
            continue
        return PricedModel(provider.id, info)
    return None
