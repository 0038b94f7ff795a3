"""Numbers in different notations: `1,000` and `1000`, `42.0` and `42`, `1.234,5` and `1234.5`."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import NamedTuple

_NUMBER = re.compile(r"[-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?").fullmatch
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]{1,30},[0-9]{1,30}").fullmatch
#: Groups of three digits with one separator between them, and decimals after another one.
_THOUSANDS = re.compile(
    r"([-+]?[1-9][0-9]{0,2}([,.'\u2019 \u00a0\u202f])[0-9]{3}((?:\2[0-9]{3}){0,8}))((?!\2)[.,][0-9]{1,30})?"
).fullmatch
_SEPARATOR = re.compile("[^-+0-9]")
_CURRENCY = r"[$€£¥]|EUR|USD|GBP|CHF|JPY"
_WITH_CURRENCY = re.compile(
    rf"(?P<sign>[-+]?)(?:(?P<before>{_CURRENCY})\s?(?P<number>[^$€£¥\s].*)|(?P<other>.*[^$€£¥\s])\s?(?P<after>{_CURRENCY}))",
    re.DOTALL,
).fullmatch
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}
PERCENT = "%"
_DIGIT = re.compile(r"\d").search
_MINUS = str.maketrans("\u2212", "-")
_CHARACTERS = 100  #: a longer text is no number
#: A number in other text, of which a digit or a letter before or after it would be a part.
_IN_TEXT = re.compile(
    r"(?<![\w.,])[-+\u2212]?[0-9]+(?:[.,'\u2019 \u00a0\u202f][0-9]+)*(?![\w%]|[.,'\u2019 \u00a0\u202f][0-9]|\s%)"
)
_IN_TEXT_CHARACTERS = 1_000  #: of a text in which numbers are compared
#: One space may part two numbers, and a code may begin with a zero: `1 234`, `007`.
_MAY_BE_NO_NUMBER = re.compile(r"[-+]?(?:0[0-9]|[0-9]+(?: [0-9]{3})+\Z)").match
#: A number of which the point may be a decimal one, or separate thousands.
_ONE_DOT = re.compile(r"[-+]?[1-9][0-9]{0,2}\.[0-9]{3}").fullmatch
_SEPARATORS = ".,'\u2019 \u00a0\u202f"
#: Groups of thousands in a number that neither stands in brackets nor continues a list: in `[1,200]` and `5, 1,200` the comma parts items.
_GROUPS = re.compile(
    rf"(?<![\d\[({{])(?<!\d[{_SEPARATORS}])(?<!\d, )"
    rf"[1-9]\d{{0,2}}([{_SEPARATORS}])\d{{3}}(?:\1\d{{3}})*(?![\d\])}}]|\1\d|, \d)"
)
_DIGITS = re.compile(r"\d+")
#: Arabic marks, which are a decimal point and a separator of thousands for certain.
_DECIMALS = re.compile("(?<=[0-9])\u066b([0-9]+)")
_THOUSAND = re.compile("(?<=[0-9])\u066c(?=[0-9]{3}(?![0-9]))")


class _Reading(NamedTuple):
    """The numbers that a text may be, and the currency beside it."""

    numbers: frozenset[Decimal]
    currency: str
    is_sure: bool  #: the text is one number, whatever country it is from


def have_other_digits_together(one: str, other: str) -> bool:
    """Return whether digits stand together in one text only: `12, 3` and `1, 23`, but not `1,200` and `1200`, nor `1,200` and `1, 200`."""
    if _DIGITS.findall(one) == _DIGITS.findall(other):
        return False
    first, second = (
        _DIGITS.findall(_GROUPS.sub(lambda found: found[0].replace(found[1], ""), text))
        for text in (one, other)
    )
    return first != second


def _with_common_digits(text: str) -> str:
    """Return a text with the digits 0 to 9 for those of other scripts, whose width or form is not all that differs."""
    if text.isascii():
        return text
    digits = {
        ord(character): str(unicodedata.decimal(character))
        for character in set(text)
        if character.isdecimal() and unicodedata.normalize("NFKC", character) == character
    }
    # More than three decimals cannot be taken for thousands.
    return _THOUSAND.sub("", _DECIMALS.sub(r".\g<1>000", text.translate(digits)))


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


def one_number(one: str, other: str) -> str:
    """Return in words that two texts are, or may be, the same number; empty if they cannot be.

    One of them may be a percentage, or have a currency that the other lacks. `1.234` and `1,234` are two numbers each.
    """
    if not _may_have_numbers(one, other, _CHARACTERS):
        return ""
    given = [text.strip().translate(_MINUS) for text in (one, other)]
    if given[0] == given[1]:
        return ""
    first, second = (_read(_with_common_digits(text)) for text in given)
    if first.currency and second.currency and first.currency != second.currency:
        return ""
    if first.numbers.isdisjoint(second.numbers):
        return ""
    perhaps = "" if first.is_sure and second.is_sure else "perhaps "
    if first.currency != second.currency:
        return f"{perhaps}the same number, with a currency beside one of them"
    return f"{perhaps}the same number in another notation"


def equal_but_for_notation(one: str, other: str) -> str:
    """Return in words that two texts may be equal but for the notation of the numbers in them; empty if they cannot be."""
    if not _may_have_numbers(one, other, _IN_TEXT_CHARACTERS):
        return ""
    one, other = map(_with_common_digits, (one, other))
    if _IN_TEXT.split(one) != _IN_TEXT.split(other):
        return ""
    pairs = zip(_IN_TEXT.findall(one), _IN_TEXT.findall(other), strict=True)
    # "3.10" and "3.1" may be versions, and what the number is in other text does not tell.
    is_equal = all(a == b or one_number(a, b) for a, b in pairs)
    return "perhaps the same number in another notation" if is_equal else ""


def _may_have_numbers(one: str, other: str, most: int) -> bool:
    is_short = len(one) <= most and len(other) <= most
    return is_short and bool(_DIGIT(one) and _DIGIT(other))


def _read(text: str) -> _Reading:
    number, currency = _without_currency(text)
    digits = number.removesuffix(PERCENT).rstrip()
    numbers = numbers_in(digits)
    if _ONE_DOT(digits):
        numbers.add(Decimal(digits.replace(".", "")))
    is_sure = len(numbers) == 1 and not _MAY_BE_NO_NUMBER(digits)
    if number.endswith(PERCENT):
        numbers = {number.scaleb(-2) for number in numbers}
    return _Reading(frozenset(numbers), currency, is_sure)


def _without_currency(text: str) -> tuple[str, str]:
    found = _WITH_CURRENCY(text)
    if found is None:
        return text, ""
    currency = found["before"] or found["after"]
    return found["sign"] + (found["number"] or found["other"]), _SYMBOLS.get(currency, currency)
