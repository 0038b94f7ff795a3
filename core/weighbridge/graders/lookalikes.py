"""Characters of different scripts that look alike, such as the Latin and the Cyrillic `a`.

A selection for letters that are typed or copied by mistake; source: `confusables.txt` of Unicode's UTS #39.
"""

from __future__ import annotations

import unicodedata

_NAMED = 3  #: pairs in a description
_CYRILLIC = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u051b\u051d\u04bb\u0501"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408\u04ae\u050c"
)
_GREEK = (
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
)
_OTHERS = "\u0131\u0251\u0261\u02bc\u02bb\u0219\u0218\u021b\u021a\u0110\u0189\u06cc\u06a9"
#: Each character that looks like another one, with that one.
_LOOKS_LIKE = str.maketrans(
    _CYRILLIC + _GREEK + _OTHERS + "\u00ba\u02da",
    "aeopcyxsijqwhd" "ABEKMHOPCTYXSIJYG"
    "aikvopu" "ABEZHIKMNOPTYX"
    "iag''\u015f\u015e\u0163\u0162\u00d0\u00d0\u064a\u0643" "\u00b0\u00b0",
)  # fmt: skip


def look_alike(one: str, other: str) -> bool:
    """Return whether two texts of equal length look the same."""
    return len(one) == len(other) and one.translate(_LOOKS_LIKE) == other.translate(_LOOKS_LIKE)


def differing_characters(expected: str, observed: str) -> str:
    """Return the code points and names of the characters that differ in two texts."""
    if len(expected) != len(observed):
        return f"{_names(observed)} instead of {_names(expected)}"
    pairs = dict.fromkeys(
        (got, wanted) for wanted, got in zip(expected, observed, strict=True) if wanted != got
    )
    named = [f"{_name(got)} instead of {_name(wanted)}" for got, wanted in list(pairs)[:_NAMED]]
    more = len(pairs) - len(named)
    return ", ".join([*named, f"and {more:,} more"] if more else named)


def _names(text: str) -> str:
    more = len(text) - _NAMED
    return ", ".join(map(_name, text[:_NAMED])) + (f" and {more:,} more" if more > 0 else "")


def _name(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()
