"""Where words end in other text, also in scripts that write no blanks between words, or join particles to them.

Without blanks no rule finds all words. Here an end is only found where another script begins, or where a word stands that often
begins or ends a sentence's part: `是`, `は`, `です`, `คือ`. Characters that often make a longer word, as in `北京市`, are no end.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_HAN = r"\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = r"\u3041-\u309f"
_KATAKANA = r"\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_THAI = r"\u0e00-\u0e3a\u0e40-\u0e4e"
_HANGUL = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_script = re.compile(
    f"(?P<han>[{_HAN}])|(?P<hiragana>[{_HIRAGANA}])|(?P<katakana>[{_KATAKANA}])|(?P<thai>[{_THAI}])|(?P<hangul>[{_HANGUL}])"
).match
#: Minimum lengths of a text that is a word; a shorter one is too often a part of a longer word.
_LEAST_CHARACTERS, _LEAST_HIRAGANA = 2, 3
#: Chinese words of one character before an answer in a sentence, and after it.
_HAN_BEFORE, _HAN_AFTER = (
    "是为為在于於叫即的说說称稱選选和与與或答",
    "是在的了吗嗎呢吧啊呀和与與或也",
)
#: What stands before an answer in a sentence, and after it, by the script of the answer.
_BEFORE = {
    "han": re.compile(rf"[{_HAN_BEFORE}]\Z|(?![おごみ])[{_HIRAGANA}]\Z"),
    "hiragana": re.compile(r"[はがもの]\Z"),
    "katakana": re.compile(rf"[{_HAN_BEFORE}]\Z|[{_HIRAGANA}]\Z"),
    "thai": re.compile(r"(?:คือ|เป็น|ว่า|ที่|ใน|ชื่อ|และ|หรือ|ของ)\Z"),
}
_COPULA = r"です|でし|だ(?![ぁ-ゟ])|だった|である|じゃ"
_PARTICLE = rf"{_COPULA}|[はがをにへでとものかねよ]|から|まで|より|など|なの"
_AFTER = {
    "han": re.compile(rf"\A(?:[{_HAN_AFTER}]|{_PARTICLE})"),
    "hiragana": re.compile(rf"\A(?:{_COPULA})"),
    "katakana": re.compile(rf"\A[{_HAN_AFTER}{_HIRAGANA}]"),
    "thai": re.compile(r"\A(?:ครับ|ค่ะ|คะ|นะ|เป็น|คือ|และ|หรือ|ใน|ที่)"),
    "hangul": re.compile(
        rf"\A(?:입니다|이에요|예요|이다|이야|야|은|는|이|가|을|를|에|에서|의|도|로|으로|와|과|까지|부터|만|이라고|라고)(?![{_HANGUL}])"
    ),
}
#: A Chinese question of a verb and its negation, as `是不是`, of which the second part alone says no.
_IS_QUESTION = re.compile(rf"(?P<verb>[{_HAN}])[不没沒](?P=verb)").match
LOOKED_AT = 8  #: characters that are looked at on each side of a text


def _is_of_word(character: str) -> bool:
    """Return whether a character is a letter, a digit, or a mark on one."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def is_within_word(before: str, part: str, after: str) -> bool:
    """Return whether a part of a text is, or may be, only a part of a word, given the characters around it."""
    if _IS_QUESTION(before[-1:] + part[:2]):
        return True
    return _is_joined(part[0], before[-1:], len(part), before, _BEFORE) or _is_joined(
        part[-1], after[:1], len(part), after, _AFTER
    )


def is_begun_or_ended_by(whole: str, part: str) -> bool:
    """Return whether a text of Han characters begins or ends with a part, as `北京市` with `北京`, whose words need not end there."""
    if len(part) < _LEAST_CHARACTERS:
        return False
    begins = whole.startswith(part) and _script_of(part[-1]) == "han"
    return begins or (whole.endswith(part) and _script_of(part[0]) == "han")


def _is_joined(
    inner: str, outer: str, length: int, beside: str, ends: Mapping[str, re.Pattern[str]]
) -> bool:
    """Return whether two characters, at one end of a text of a length and beside it, are of one word."""
    if not outer or not (_is_of_word(inner) and _is_of_word(outer)):
        return False
    own, other = _script_of(inner), _script_of(outer)
    if other is None:
        return own is None or unicodedata.category(outer).startswith("M")
    if own is None:
        return False
    if length < (_LEAST_HIRAGANA if own == "hiragana" else _LEAST_CHARACTERS):
        return True
    return own not in ends or ends[own].search(beside) is None


def _script_of(character: str) -> str | None:
    found = _script(character)
    return found.lastgroup if found else None
