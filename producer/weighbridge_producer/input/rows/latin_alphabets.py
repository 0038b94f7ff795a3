"""Letters of languages by encodings of the Latin alphabet, to check which encoding fits the words of a text."""

from __future__ import annotations

import re

#: Letters beyond ASCII of the languages written in each encoding, without letters that only few words have.
_ALPHABETS = {
    "cp1252": (
        "àâæçèéêëîïôœùûüÿ",  # French
        "äöüßé",  # German
        "áéíñóúüªº",  # Spanish, Galician
        "áàâãçéêíóôõúüªº",  # Portuguese
        "àèéìíîòóùªº",  # Italian
        "àçéèíïóòúüªº·ñ",  # Catalan
        "áàâäçèéëêíïóôöúüû",  # Dutch
        "æøåéèêóòâôüäö",  # Danish, Norwegian
        "åäöéèàüæø",  # Swedish
        "åäöšž",  # Finnish
        "áéíóúýþæöð",  # Icelandic
    ),
    "cp1250": (
        "ąćęłńóśźż",  # Polish
        "áčďéěíňóřšťúůýž",  # Czech
        "áäčďéíľňóôšťúýž",  # Slovak
        "áéíóöőúüű",  # Hungarian
        "ăâîşţ",  # Romanian
        "čćđšž",  # Croatian, Slovenian
        "äöüß",  # German
        "çë",  # Albanian
    ),
    "cp1254": ("âçğ\u0131öşüûî\u0130",),  # Turkish
    "cp1257": (
        "ąčęėįšųūž",  # Lithuanian
        "āčēģīķļņšūž",  # Latvian
        "äõöüšž",  # Estonian
    ),
    "cp1258": ("àáâăèéêëìíîïóôơùúûüưđñç₫\u0300\u0301\u0303\u0309\u0323",),  # Vietnamese
}
_LETTERS = {
    encoding: [frozenset(letters + letters.upper() + "µ") for letters in alphabets]
    for encoding, alphabets in _ALPHABETS.items()
}
LATIN_ENCODINGS = frozenset(_ALPHABETS)
_WORDS = re.compile(rb"[A-Za-z\x80-\xff]+")
#: Characters that words do not have in the right encoding: single accents, and signs that stand beside digits.
_IN_NO_WORD = frozenset("ˇ˘˝\u02db˙\u00b8\ufffd¡¿²³¹¼½¾¥¢£¬¦¶")


def fitting_share(text: bytes, encoding: str) -> float:
    """Return the share of a text's words beyond ASCII that have only letters of one language.

    It is the language that fits most of these words; each word counts once.
    """
    words = [_letters_of(word, encoding) for word in set(_WORDS.findall(text))]
    words = [letters for letters in words if letters]
    most = max(sum(letters <= known for letters in words) for known in _LETTERS[encoding])
    return most / len(words) if words else 1.0


def _letters_of(word: bytes, encoding: str) -> frozenset[str]:
    decoded = word.decode(encoding, "replace")
    return frozenset(
        character
        for character in decoded
        if character > "\x7f" and (character.isalpha() or character in _IN_NO_WORD)
    )
