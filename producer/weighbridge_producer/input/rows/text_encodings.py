"""The encoding of a table in text: given by name, marked at its start, or guessed from its first bytes."""

from __future__ import annotations

import codecs
import re

from weighbridge.errors import InputError
from weighbridge.settings import KIB
from weighbridge_producer.input.rows.latin_alphabets import LATIN_ENCODINGS, fitting_share

HEAD_BYTES = 256 * KIB  #: number of bytes examined to detect encoding and dialect
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
#: A letter of the Latin alphabet beside a letter of another one, which no word has.
_MIXED_WORD = re.compile("[A-Za-z][Ͱ-ۿ\u0e00-\u0e7f]|[Ͱ-ۿ\u0e00-\u0e7f][A-Za-z]")


def checked_encoding(name: str) -> str:
    """Return Python's name of a text encoding; raises InputError if there is no encoding of this name."""
    try:
        "a".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise InputError(
            f"the encoding {name[:80]!r} is unknown", f"write one such as {_EXAMPLES}"
        ) from None


def given_encoding(head: bytes, name: str) -> str:
    """Return the encoding that was given by name; raises InputError if it cannot be that of text with this beginning."""
    guess = encoding_of(head)
    if guess.startswith(name):  # the guess also has the byte order, or the mark to skip
        return guess
    text = head.decode(name, errors="replace")
    wrong = text.count("\ufffd") - (len(head) >= HEAD_BYTES)  # the last character may be truncated
    beyond_ascii = sum(character > "\x7f" for character in text) - wrong
    is_narrow = name.startswith(("utf-16", "utf-32")) and 0 not in head
    if wrong * 2 > beyond_ascii or is_narrow:
        raise InputError(f"the text is not {name.upper()}", f"its bytes suggest --encoding {guess}")
    return name


def encoding_of(head: bytes) -> str:
    """Return the encoding of text by its first bytes: that of a byte order mark, UTF-8, or the most likely one."""
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
    """Return the form of UTF-16 of text without a mark, by the NUL bytes in separators and digits; empty if it is none."""
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
    """Return whether text for which another encoding was detected fits CP1252 as well, by the letters of its words."""
    head = head[:_GUESSED_BYTES]
    if encoding == _WESTERN or encoding not in LATIN_ENCODINGS:
        return False
    text = head.decode(_WESTERN, "replace")
    is_other = text != head.decode(encoding, "replace")
    fits = "\ufffd" not in text and fitting_share(head, _WESTERN) >= fitting_share(head, encoding)
    return is_other and fits


def _guessed(head: bytes) -> str:
    """Return the most likely encoding of text that is not UTF-8, among those that current programs write."""
    from chardet import EncodingEra, detect_all

    head = head[:_GUESSED_BYTES]
    if _has_kana(head):
        return _JAPANESE  # chardet misses it if a few words are repeated many times
    found = detect_all(head, ignore_threshold=True, encoding_era=EncodingEra.MODERN_WEB)
    names = [codecs.lookup(guess["encoding"]).name for guess in found if guess["encoding"]]
    # With few words, chardet may take accented letters for Cyrillic ones.
    whole = (name for name in names if not _MIXED_WORD.search(head.decode(name, "replace")))
    name = next(whole, names[0] if names else _WESTERN)
    is_western = head.decode(name, "replace") == head.decode(_WESTERN, "replace")
    # For words such as `maïs`, chardet's scores of several encodings hardly differ.
    fits_better = (
        name in LATIN_ENCODINGS
        and _WESTERN in names
        and fitting_share(head, _WESTERN) > fitting_share(head, name)
    )
    return _WESTERN if is_western or fits_better else name


def _has_kana(head: bytes) -> bool:
    """Return whether text is Shift-JIS and a quarter of it kana; the first bytes of kana are rare in other encodings."""
    try:
        text = codecs.getincrementaldecoder(_JAPANESE)().decode(head)
    except UnicodeDecodeError:
        return False
    beyond_ascii = [character for character in text if character > "\x7f"]
    return sum("\u3041" <= each <= "\u30ff" for each in beyond_ascii) * 4 >= len(beyond_ascii) > 0
