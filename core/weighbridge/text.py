"""Text formatting: counts, suggestions for misspelt names, durations, and safe display of untrusted text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_COMPARED_CHARACTERS = 256
_MIN_SIMILARITY = 65.0  #: minimum similarity, of 100, for a suggestion
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
#: In JSON, an escaped backslash, both halves of a surrogate pair, or one of them.
_ESCAPES = re.compile(
    rb"(?:\\\\)+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
# Characters that control a terminal, change the text direction, or cannot be encoded as UTF-8.
_MISLEADING = "\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNPRINTABLE = re.compile(f"[\x00-\x1f{_MISLEADING}]")
_INVISIBLE = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\u200b\u2060\ufeff{_MISLEADING}]")

# The same, and characters that are invisible, look like a space, or combine with the previous one.
_HIDDEN = re.compile(
    "[\x00-\x1f\xa0\xad\u034f\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200d\u202f\u205f-\u2064\u2800"
    f"\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0{_MISLEADING}\U000e0000-\U000e007f]"
)


def pluralize(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun, "1 job", "2 jobs"; `nouns` is a plural other than with an s."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to a misspelt one, in whatever case."""
    from rapidfuzz import fuzz, process  # imported here, because most processes never need it

    names = list(known)
    compared = [known_name[:_COMPARED_CHARACTERS] for known_name in names]
    match = process.extractOne(
        name[:_COMPARED_CHARACTERS],
        compared,
        scorer=fuzz.ratio,
        processor=str.casefold,
        score_cutoff=_MIN_SIMILARITY,
    )
    return names[match[2]] if match else None


def did_you_mean(guess: str | None, before: str = "; ", after: str = "") -> str:
    """Return a suggestion like `; did you mean 'x'?`; empty if there is no guess."""
    return f"{before}did you mean {guess!r}?{after}" if guess else ""


def found_instead(missing: str, unknown: Iterable[str]) -> str:
    """Return a hint on the unknown name that is probably a misspelt missing one; empty if there is none."""
    found = closest(missing, unknown)
    return f"found {found[:80]!r}{did_you_mean(missing)}" if found else ""


def printable(text: str) -> str:
    """Return a text that is safe to print in a terminal, with control characters as escapes."""
    return _UNPRINTABLE.sub(_escape, text)


def visible(text: object) -> str:
    """Return a text in which invisible characters, and those that reorder others, are replaced by escapes.

    Line breaks and tabs are kept, because they are layout on a page.
    """
    return _INVISIBLE.sub(_escape, str(text))


def revealed(text: str) -> str:
    """Return a text on one line with all characters visible: `␊` for a line break, `<U+200B>` for an invisible one."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    # Unicode has a symbol for each ASCII control character.
    return chr(0x2400 + code) if code < 0x20 else f"<U+{code:04X}>"


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()


def percent(part: int, whole: int) -> str:
    """Return a percentage with one decimal; 100.0 % means all, 0.0 % none, and an empty text a share of nothing."""
    if not whole:
        return ""
    tenths = round(part * 1000 / whole)
    if 0 < part < whole:
        tenths = min(max(tenths, 1), 999)
    return f"{tenths / 10:.1f}%"


def encodable(text: str) -> str:
    """Return the text with each lone surrogate replaced by U+FFFD, so that it has a UTF-8 form."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATES.sub("\ufffd", text)
    return text


def encodable_json(raw: bytes) -> bytes:
    """Return JSON with that of U+FFFD for each escape of a lone surrogate; the same object if it has none.

    For JSON that a parser has refused: programs in JavaScript and Python write these escapes, and UTF-8 has no form of them.
    """
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return raw
    mended = _ESCAPES.sub(lambda found: b"\\ufffd" if found[1] else found[0], raw)
    return raw if mended == raw else mended


def all_encodable(texts: list[str]) -> list[str]:
    """Return the texts as `encodable` does; one test for all takes a fraction of the time."""
    return texts if "".join(texts).isascii() else list(map(encodable, texts))


def shorten(text: str, most: int, mark: str = "…") -> str:
    """Return a text with at most `most` characters; a truncated one ends in `mark`."""
    return text if len(text) <= most else text[: most - len(mark)] + mark


def cut_after(text: str, kept: int) -> str:
    """Return the first `kept` characters of a text, with an added mark if it is longer."""
    return text if len(text) <= kept else f"{text[:kept]}…"


def duration(seconds: float, most_units: int = 2) -> str:
    """Return a duration in its largest units, by default two: `3 min 20 s`."""
    whole = round(seconds)
    if whole < 1:
        return "less than a second"
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, whole = divmod(whole, size)
        if count or parts:
            parts.append(f"{count:,} {unit}" if count else "")
        if len(parts) == most_units:
            break
    return " ".join(filter(None, parts))


def elapsed(seconds: float) -> str:
    """Return an elapsed time, with three digits if below a minute: `850 ms`, `33.5 s`, `7 min 26 s`."""
    if abs(seconds) >= 59.95:
        return duration(seconds)
    if abs(seconds) >= 0.9995:
        return f"{seconds:.3g} s"
    return f"{seconds * 1_000:.3g} ms"


def compact(count: int) -> str:
    """Return a count with at most five characters if below a trillion: `9,999`, `66.6k`, `1.23M`."""
    if count < 10_000:
        return f"{count:,}"
    unit, size = next(
        ((unit, size) for unit, size in (("k", 10**3), ("M", 10**6)) if count < 999.5 * size),
        ("G", 10**9),
    )
    scaled = count / size
    digits = 2 if scaled < 9.995 else 1 if scaled < 99.95 else 0
    return f"{scaled:,.{digits}f}{unit}"
