"""The encoding of a table in text: given by name, marked at its start, or guessed from its first bytes."""

from __future__ import annotations

import codecs
import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.errors import InputError
from weighbridge.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

HEAD_BYTES = 256 * KIB  #: examined to detect encoding and dialect
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_WESTERN = "cp1252"
_EXAMPLES = "utf-8, utf-16, cp1252, cp1250, cp1251, shift_jis or gb18030"
_WORD = re.compile(rb"[^\s,;|]*[\x80-\xff][^\s,;|]*")
_WORDS = 1_000
_WORD_BYTES = 200
_SURE = 0.6  #: share of characters that fit an encoding which is not looked for further
_SELDOM = 0.15  #: by which DOS and Mac encodings have to be better
_MARKS_OF_TEXT = frozenset("“”‘’„–—…€«»°§£©®™•·\xa0")
_SIGNS = frozenset("²³±¹½¼¾µ×÷ªº")  #: of measures, which follow a letter or digit, and end a word
#: A word of which each letter is beyond ASCII.
_WHOLE_WORD = re.compile(r"(?<!\w)[^\x00-\x7f\W]{2,}(?!\w)")


class _Language(NamedTuple):
    """A language by its letters beyond ASCII, with the encodings that its texts have."""

    encodings: tuple[str, ...]
    letters: str  #: in lower case
    frequent: str = ""  #: the frequent ones, in scripts whose encodings share their bytes

    @property
    def is_latin(self) -> bool:
        """True if words also have letters of ASCII."""
        return not self.frequent


_LATIN_ONE, _LATIN_TWO = ("cp1252", "cp850", "mac_roman"), ("cp1250", "iso8859_2", "cp852")
_CYRILLIC = ("cp1251", "koi8_r", "cp866", "mac_cyrillic")
#: The first of those that fit equally well is taken.
_LANGUAGES = (
    _Language(_LATIN_ONE, "äöüß"),
    _Language(_LATIN_ONE, "àâçéèêëîïôœùûüÿ"),
    _Language(_LATIN_ONE, "áéíñóúü¿¡ªº"),
    _Language(_LATIN_ONE, "áâãàçéêíóôõúüªº"),
    _Language(_LATIN_ONE, "àèéìíîòóùú"),
    _Language(_LATIN_ONE, "åäöéæøü"),
    _Language(_LATIN_ONE, "éëïöüèáóíú"),
    _Language(("cp1254", "iso8859_9", "cp857"), "çğıöşüâîûİ"),
    _Language(_LATIN_ONE, "áðéíóúýþæö"),
    _Language(_LATIN_TWO, "ąćęłńóśźż"),
    _Language(_LATIN_TWO, "áčďéěíňóřšťúůýž"),
    _Language(_LATIN_TWO, "áäčďéíĺľňóôŕšťúýž"),
    _Language(_LATIN_TWO, "áéíóöőúüű"),
    _Language(_LATIN_TWO, "ăâîşţ"),
    _Language(_LATIN_TWO, "čćđšž"),
    _Language(("cp1257",), "ąčęėįšųūž"),
    _Language(("cp1257",), "āčēģīķļņšūž"),
    _Language(("cp1257",), "õäöüšž"),
    _Language(_CYRILLIC, "абвгдежзийклмнопрстуфхцчшщъыьэюяё№", "оеаинтсрв"),
    _Language(("cp1251",), "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя№", "оеаинтсрві"),
    _Language(("cp1253", "iso8859_7"), "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋ", "αοιετσνηυρπάέίό"),
    _Language(("cp1255",), "אבגדהוזחטיךכלםמןנסעףפץצקרשת", "יוהלאמרתבשם"),
    _Language(("cp1256",), "ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىي،؛؟", "اليمنوترةبهدسع"),
    _Language(("cp874",), "".join(map(chr, (*range(0xE01, 0xE3B), *range(0xE3F, 0xE5C)))), "\0"),
)
#: Encodings with two bytes for a character: the first and last bytes of those that are frequent in texts, and their weight.
_TWO_BYTES: tuple[tuple[str, tuple[tuple[bytes, bytes, float], ...]], ...] = (
    ("cp932", ((b"\x82\x9f", b"\x83\x96", 1), (b"\x88\x9f", b"\x98\x72", 1))),
    ("cp949", ((b"\xb0\xa1", b"\xc8\xfe", 1),)),
    # Chinese and Thai have the same bytes as its ideographs, but not as its syllables.
    ("euc_jp", ((b"\xa4\xa1", b"\xa5\xf6", 1), (b"\xb0\xa1", b"\xcf\xd3", 0.85))),
    ("gb18030", ((b"\xb0\xa1", b"\xd7\xfe", 1),)),
    ("big5", ((b"\xa4\x40", b"\xc6\x7e", 1),)),
)


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


def _guessed(head: bytes) -> str:
    """Return the likeliest encoding of text that is not UTF-8, by the letters of languages beyond ASCII."""
    found = islice(_WORD.finditer(head), _WORDS)
    words = b" ".join(match[0][:_WORD_BYTES] for match in found)[: 8 * KIB]
    best, encoding = max(_fits(words), key=lambda fit: fit[0])
    if best >= _SURE:
        return encoding
    from charset_normalizer import from_bytes

    # It is better in rare languages, and guesses wildly where a few characters are beyond ASCII.
    high = sum(byte > 127 for byte in head[: 64 * KIB])
    guess = from_bytes(head[: 64 * KIB]).best() if high > _SELDOM * len(head[: 64 * KIB]) else None
    return guess.encoding if guess else encoding if best > 0 else _WESTERN


def _fits(words: bytes) -> Iterator[tuple[float, str]]:
    """Yield how well each encoding fits words, at most 1, the preferred encodings first."""
    yield 0, _WESTERN
    texts: dict[str, str] = {}
    for rank in range(max(len(language.encodings) for language in _LANGUAGES)):
        for language in _LANGUAGES:
            if rank >= len(language.encodings):
                continue
            name = language.encodings[rank]
            if name not in texts:
                texts[name] = words.decode(name, errors="replace")
            is_seldom = name.startswith(("cp8", "mac"))
            yield _fit(texts[name], language) - is_seldom * _SELDOM, name
    for name, frequent in _TWO_BYTES:
        yield _share(words.decode(name, errors="replace"), _weight(name, frequent)), name


def _fit(text: str, language: _Language) -> float:
    """Return the share of characters beyond ASCII that a text in a language may have where they stand."""
    letters = {*language.letters, *language.letters.upper()}
    total, good = 0, 0.0
    for before, character, after in zip(" " + text, text, text[1:] + " ", strict=False):
        if character < "\x80":
            continue
        total += 1
        if character in letters:
            if character.isupper() and before.islower():
                good -= 1
            elif language.is_latin or not (_is_ascii_letter(before) or _is_ascii_letter(after)):
                good += 1 if language.is_latin or character.lower() in language.frequent else 0.9
        elif character in _MARKS_OF_TEXT:
            is_within = before.isalpha() and after.isalpha() and character not in "’‘–—…·\xa0"
            good += not is_within
        elif character in _SIGNS and not after.isalpha() and before != " ":
            good += 0.8
    if language.is_latin:
        good -= sum(len(word) for word in _WHOLE_WORD.findall(text)) / 2
    return good / total if total else 0.0


def _is_ascii_letter(character: str) -> bool:
    return character < "\x80" and character.isalpha()


def _weight(name: str, ranges: tuple[tuple[bytes, bytes, float], ...]) -> Callable[[str], float]:
    """Return a function that weighs a character by how frequent it is in texts of an encoding."""

    def weight(character: str) -> float:
        if character == "\ufffd":
            return -1
        if "\u3000" <= character <= "\u301f" or "\uff01" <= character <= "\uff5e":
            return 1
        code = character.encode(name, errors="replace")
        found = (weight for low, high, weight in ranges if low <= code <= high)
        return next(found, 0) if len(code) == 2 else 0

    return weight


def _share(text: Iterable[str], weight: Callable[[str], float]) -> float:
    characters = [character for character in text if character > "\x7f"]
    return sum(map(weight, characters)) / len(characters) if characters else 0.0
