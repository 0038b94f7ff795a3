"""Punctuation that carries meaning: signs and separators of numbers, operators, and symbols such as the `+` in `C++`.

Where a mark may be either, as the dash in `a - b`, what stands on both sides of it decides.
"""

from __future__ import annotations

import re
from typing import Literal

_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2212"  #: all of which are written for a minus
_DASH = f"[{re.escape(_DASHES)}]"
_SIGN = rf"(?<![\w)\]]){_DASH}(?=[$€£¥]?\.?\d|[\u221a\u221e])"
#: A number, with separators of thousands or as a list as well.
_NUMBER = re.compile(r"(?<!\d)\d++(?:[.,]\d++)+")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_OF_NUMBERS = re.compile(
    rf"{_SIGN}|(?<=\d)(?:[.,;/:^\u066b\u066c]|\*|\.\.\.?|{_DASH})(?=\d)|(?<![\w.])\.(?=\d)"
)
_SIGNED = re.compile(rf"\s*{_DASH}\s+[$€£¥]?[\d.,]*\d\s*").fullmatch
_LETTER = r"(?<![^\W_])[^\W\d_]"  #: that is a name of its own, before a mark
_LETTER_AFTER = r"[^\W\d_](?![^\W_])"
_SYMBOLS = re.compile(
    # Always, but for headings and quotes at the beginning of lines.
    r"[+=<\\&|^~@%/\u066a]|//+|\#(?!\s)|(?<=[^\W_])\#|(?<!^)>|>(?!\s\D)|[\u2016\u2030-\u2037]"
    # Negation, members, scopes, derivatives, amounts and variables, but not the dollars around a formula.
    r"|(?<!\w)!(?=[\w(])|!(?==)|(?<=[\d)])!|::|:(?==)|(?<=\w\w)\.(?=[a-z])|(?<![\w.])\.(?=[^\W\d_])"
    r"|(?<=[^\W\d_])'+(?=\()|\$(?=\d)|\$(?=[^\W\d]|\{)(?![^$\n]*\$)"
    # Between operands; flags; subscripts.
    r"|(?<=[\w)\]])[*\u00b7]+(?=[\w(\[])|(?<=[\w)\]][^\S\n])[*\u00b7]+(?=\s[\w(\[])"
    rf"|(?<={_LETTER}){_DASH}(?=\d|{_LETTER_AFTER}|[(\[])|(?<=[\d)\]]){_DASH}(?={_LETTER_AFTER}|[(\[])"
    rf"|(?<={_LETTER}[^\S\n]){_DASH}(?=\s(?:\d|{_LETTER_AFTER}|[(\[]))|(?<=[\d)\]][^\S\n]){_DASH}(?=\s(?:\d|{_LETTER_AFTER}|[(\[]))"
    rf"|(?<=(?<![^\W_])[A-Z])[-\u2212](?!\s*[^\W_])|(?<![\w)\]]){_DASH}(?={_LETTER_AFTER})|(?<!\S)--(?=\w)|(?<=\w)--(?!\S)|(?<=[^\W_])_(?=\d|{_LETTER_AFTER})",
    re.MULTILINE,
)
#: Of a formula or of code, in which brackets carry meaning as well.
_FORMULA = re.compile(
    r"[\w)\]](?:\s[-+*/^=<>]{1,3}\s|[+*^=<>]{1,3})[\w(\[-]|\b[^\W\d]\w*\((?!s\))|[{]\s*[\"']?\w+[\"']?\s*:"
)
_OF_FORMULAS = re.compile(
    r"[()\[\]{}]|,(?=[^()\[\]{}]{0,200}+[)\]}])|(?<=[(\[{,:=])\s*+[\"'](?=\w)"
)
_BRACKETS = re.compile(r"[(\[{](?=\s*[-+\u2212]?\d)|(?<=\d)\s*+[)\]}]")
_PRIME = re.compile(r"[^'\"]*\d(['\"])(?![^\W\d_])").match  #: the first quote is after a number

_KEPT = 0xF0000  #: added to the code of a mark that is kept, which is then no punctuation
_DOTTED = "i\u0307"  #: the Turkish capital of `i`, folded
_SAME = {'"': "'", **dict.fromkeys(_DASHES, "-")}

Mark = Literal["number", "symbol"]


def differing_mark(expected: str, observed: str, mere: dict[int, None]) -> Mark | None:
    """Return which marks differ in two texts that are equal but for case and `mere` punctuation; None if none that carry meaning do."""
    if bool(_SIGNED(expected)) != bool(_SIGNED(observed)):
        return "number"
    both = expected, observed
    if _differ([_with_kept(_OF_NUMBERS, _plain_numbers(text)) for text in both], mere):
        return "number"
    if _prime(expected) != _prime(observed) or _differ(
        [_with_kept(_SYMBOLS, text) for text in both], mere
    ):
        return "symbol"
    if any(map(_FORMULA.search, both)) and _differ(
        [_with_kept(_OF_FORMULAS, text) for text in both], mere
    ):
        return "symbol"
    one, other = (["".join(found.split()) for found in _BRACKETS.findall(text)] for text in both)
    return "symbol" if len(one) == len(other) and one != other else None


def is_cut(before: str, part: str, after: str) -> bool:
    """Return whether a part of a text would be cut out of a number or a name, as `5` out of `-5` and `C` out of `C++`.

    `before` and `after` are the two characters around the part.
    """
    if part[:1].isdigit() and (
        re.search(rf"(?:^|[^\w)\]]){_DASH}$", before) or re.search(r"\d[.,]$", before)
    ):
        return True
    is_number = part[-1:].isdigit() and re.match(r"[.,]\d", after)
    return bool(is_number or (part[-1:].isalnum() and after[:1] in {"+", "#"}))


def _differ(texts: list[str], mere: dict[int, None]) -> bool:
    one, other = (text.casefold().replace(_DOTTED, "i").translate(mere) for text in texts)
    return one != other


def _prime(text: str) -> str:
    found = _PRIME(text)
    return found[1] if found else ""


def _plain_numbers(text: str) -> str:
    """Return a text with numbers without separators of thousands, and without the commas of lists of numbers."""
    return _NUMBER.sub(lambda found: _plain_number(found[0]), text)


def _plain_number(text: str) -> str:
    if _THOUSANDS.fullmatch(text) or text.count(",") > 1:
        return text.replace(",", "")
    return text


def _with_kept(marks: re.Pattern[str], text: str) -> str:
    return marks.sub(lambda found: "".join(map(_kept, found[0].strip())), text)


def _kept(mark: str) -> str:
    return chr(_KEPT + ord(_SAME.get(mark, mark)))
