"""The encoding of a table in text: given by name, marked at its start, or guessed from its first bytes."""

from __future__ import annotations

import codecs
import re

from weighbridge.errors import InputError
from weighbridge.settings import KIB
from weighbridge_producer.input.rows.latin_alphabets import LATIN_ENCODINGS, fitting_share

HEAD_BYTES = 256 * KIB  #: examined to detect encoding and dialect
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_WESTERN = "cp1252"
_JAPANESE = "cp932"
_EXAMPLES = "utf-8, utf-16, cp1252, cp1250, cp1251, shift_jis or gb18030"
_GUESSED_BYTES = 64 * KIB
#: A letter of the Latin alphabet beside one of another, as no word has.
_MIXED_WORD = re.compile("[A-Za-z][Ͱ-ۿ\u0e00-\u0e7f]|[Ͱ-ۿ\u0e00-\u0e7f][A-Za-z]")


def checked_encoding(name: str) -> str:
    """Return Python's name of an encoding of text; raises InputError if there is none of this name."""
    try:
        "a".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise InputError(
            f"the encoding {name[:80]!r} is unknown", f"write one such as {_EXAMPLES}"
        ) from None


def given_encoding(head: bytes, name: str) -> str:
    """Return the encoding that was given by name, for text that begins so; raises InputError if it cannot be its encoding."""
    guess = encoding_of(head)
    if guess.startswith(name):  # also says which end comes first, or that a mark is to be skipped
        return guess
    text = head.decode(name, errors="replace")
    wrong = text.count("\ufffd") - (len(head) >= HEAD_BYTES)  # the last character may be truncated
    beyond_ascii = sum(character > "\x7f" for character in text) - wrong
    is_narrow = name.startswith(("utf-16", "utf-32")) and 0 not in head
    if wrong * 2 > beyond_ascii or is_narrow:
        raise InputError(f"the text is not {name.upper()}", f"its bytes suggest --encoding {guess}")
    return name


def encoding_of(head: bytes) -> str:
    """Return the encoding of text by its first bytes: the one it is marked with, UTF-8, or the likeliest."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if wide := _without_mark(head):
        return wide
    try:
        # The last character of the head may be truncated.
        head[: len(head) - 3 if len(head) >= HEAD_BYTES else None].decode()
    except UnicodeDecodeError as error:
        if len(head) < HEAD_BYTES or error.start < len(head) - 8:
            return "utf-8" if _is_mostly_utf8(head) else _guessed(head)
    return "utf-8"


def _without_mark(head: bytes) -> str:
    """Return the UTF-16 that text without a mark has, in which separators and digits have a NUL at every second place."""
    head = head[: len(head) // 2 * 2]
    first, second = head[::2].count(0), head[1::2].count(0)
    if (
        not head
        or max(first, second) * 20 < len(head) // 2
        or min(first, second) * 10 > max(first, second)
    ):
        return ""
    return "utf-16-le" if second > first else "utf-16-be"


def _is_mostly_utf8(head: bytes) -> bool:
    """Return whether characters in UTF-8 outnumber the bytes that are not UTF-8, so that only some rows are wrong."""
    text = head.decode(errors="replace")
    beyond_ascii = sum(character > "\x7f" for character in text)
    return beyond_ascii >= 2 * text.count("\ufffd")


def may_be_western(head: bytes, encoding: str) -> bool:
    """Return whether text that was taken for another encoding fits CP1252 as well, by the letters of its few words."""
    head = head[:_GUESSED_BYTES]
    if encoding == _WESTERN or encoding not in LATIN_ENCODINGS:
        return False
    text = head.decode(_WESTERN, "replace")
    is_other = text != head.decode(encoding, "replace")
    fits = "\ufffd" not in text and fitting_share(head, _WESTERN) >= fitting_share(head, encoding)
    return is_other and fits


def _guessed(head: bytes) -> str:
    """Return the likeliest encoding of text that is not UTF-8, among those that programs of today write."""
    from chardet import EncodingEra, detect_all

    head = head[:_GUESSED_BYTES]
    if _has_kana(head):
        return _JAPANESE  # which a few words repeated many times hide from chardet
    found = detect_all(head, ignore_threshold=True, encoding_era=EncodingEra.MODERN_WEB)
    names = [codecs.lookup(guess["encoding"]).name for guess in found if guess["encoding"]]
    # For a few words it may take accented letters for Cyrillic ones.
    whole = (name for name in names if not _MIXED_WORD.search(head.decode(name, "replace")))
    name = next(whole, names[0] if names else _WESTERN)
    is_western = head.decode(name, "replace") == head.decode(_WESTERN, "replace")
    # For words such as `maïs` it is hardly surer of one encoding than of another.
    fits_better = (
        name in LATIN_ENCODINGS
        and _WESTERN in names
        and fitting_share(head, _WESTERN) > fitting_share(head, name)
    )
    return _WESTERN if is_western or fits_better else name


def _has_kana(head: bytes) -> bool:
    """Return whether text is Shift-JIS of which a quarter are kana; in other encodings, their first bytes are rare."""
    try:
        text = codecs.getincrementaldecoder(_JAPANESE)().decode(head)
    except UnicodeDecodeError:
        return False
    beyond_ascii = [character for character in text if character > "\x7f"]
    return sum("\u3041" <= each <= "\u30ff" for each in beyond_ascii) * 4 >= len(beyond_ascii) > 0
