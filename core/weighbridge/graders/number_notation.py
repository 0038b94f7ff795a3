"""Numbers in different notations: `1,000` and `1000`, `42.0` and `42`, `1.234,5` and `1234.5`."""

from __future__ import annotations

import re
from decimal import Decimal

_NUMBER = re.compile(r"[-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?").fullmatch
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]{1,30},[0-9]{1,30}").fullmatch
#: Groups of three digits with one separator between them, and decimals after another one.
_THOUSANDS = re.compile(
    r"([-+]?[0-9]{1,3}([,.'\u2019 \u00a0\u202f])[0-9]{3}((?:\2[0-9]{3}){0,8}))((?!\2)[.,][0-9]{1,30})?"
).fullmatch
_SEPARATOR = re.compile("[^-+0-9]")
_CURRENCY = r"[$€£¥]|EUR|USD|GBP|CHF|JPY"
_WITH_CURRENCY = re.compile(
    rf"(?P<sign>[-+]?)(?:(?P<before>{_CURRENCY})\s?(?P<number>[^$€£¥\s].*)|(?P<other>.*[^$€£¥\s])\s?(?P<after>{_CURRENCY}))",
    re.DOTALL,
).fullmatch
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}
PERCENT = "%"
_CHARACTERS = 100  #: a longer text is no number


def numbers_in(text: str) -> set[Decimal]:
    """Return the numbers that a text may be: `1,500` is one with a decimal comma, or with a separator of thousands."""
    found = {Decimal(text)} if _NUMBER(text) else set()
    if _DECIMAL_COMMA(text):
        found.add(Decimal(text.replace(",", ".")))
    if parts := _THOUSANDS(text):
        whole, separator, more_groups, decimals = parts[1], parts[2], parts[3], parts[4] or ""
        # A single dot is a decimal point.
        if separator != "." or more_groups or decimals:
            found.add(Decimal(_SEPARATOR.sub("", whole) + decimals.replace(",", ".")))
    return found


def are_one_number(one: str, other: str) -> bool:
    """Return whether two texts may be the same number, one of them as a percentage, or with a currency that the other lacks."""
    if len(one) > _CHARACTERS or len(other) > _CHARACTERS:
        return False
    one, currency = _without_currency(one.strip())
    other, other_currency = _without_currency(other.strip())
    if currency and other_currency and currency != other_currency:
        return False
    return not _values(one).isdisjoint(_values(other))


def _without_currency(text: str) -> tuple[str, str]:
    found = _WITH_CURRENCY(text)
    if found is None:
        return text, ""
    currency = found["before"] or found["after"]
    return found["sign"] + (found["number"] or found["other"]), _SYMBOLS.get(currency, currency)


def _values(text: str) -> set[Decimal]:
    """Return the values that a text may have: that of a percentage is its hundredth."""
    if text.endswith(PERCENT):
        return {number.scaleb(-2) for number in numbers_in(text.removesuffix(PERCENT).rstrip())}
    return numbers_in(text)
