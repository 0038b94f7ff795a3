"""AutoGen's messages as they are printed: `source='user' models_usage=None content='...' type='TextMessage'`.

Some programs keep `str(message)` or `repr(message)` as the content of a chat entry, some after the name of its type.
The texts are in Python's notation, except for objects that have none and are written as `<...>`. Nothing is evaluated.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from weighbridge.text import encodable
from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.fields import object_of, objects_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PLAIN_ROLES = ("user", "system")  #: roles of entries that may be plain text among printed ones
TASK_RESULT = "TaskResult"  #: type of a run's result, which repeats the messages of the run
_KINDS = frozenset(
    {
        *("TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "ThoughtEvent"),
        *("ToolCallRequestEvent", "ToolCallExecutionEvent", "ToolCallSummaryMessage"),
        *("ModelClientStreamingChunkEvent", "MemoryQueryEvent", "UserInputRequestedEvent"),
        *("SelectSpeakerEvent", "SelectorEvent", "CodeGenerationEvent", "CodeExecutionEvent"),
    }
)
_STRUCTURED = "StructuredMessage"
_REQUEST, _EXECUTION = "ToolCallRequestEvent", "ToolCallExecutionEvent"
OF_TOOLS = frozenset({_REQUEST, _EXECUTION})  #: types of messages with calls or their results
_LIMIT_CHARACTERS = 1_000_000
_DEPTH = 20
_LOOKED_AT = 20  #: number of entries by which printed messages are recognised

_ESCAPE = r"\\(?:[nrt'\"\\]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING = rf"""(?:'[^'\\]*+(?:{_ESCAPE}[^'\\]*+)*+'|"[^"\\]*+(?:{_ESCAPE}[^"\\]*+)*+")"""
_token = re.compile(
    rf"""\s*+(?:(?P<string>{_STRING})|(?P<object><[^<>'"]{{0,500}}(?:{_STRING})?>)"""
    r"|(?P<number>-?\d{1,18}(?:\.\d{1,18})?(?:e[-+]?\d{1,3})?)"
    r"|(?P<name>[A-Za-z_][\w.]{0,200}(?:\[[\w., ]{0,200}\])?)|(?P<mark>[\[({]))",
    re.ASCII,
).match
_field = re.compile(r"\s*+([A-Za-z_]\w{0,100})=", re.ASCII).match
_mark = re.compile(r"\s*+([\[\](){},:])").match
_end = re.compile(r"\s*+\Z").match
_begins = re.compile(
    r"\s{0,9}(?:(?P<kind>[A-Z]\w{0,60}(?:\[[\w.]{1,100}\])?)(?P<opening>: |\())?"
    r"(?P<first>id|source|messages)=['\"\[]",
    re.ASCII,
).match
#: The first fields of every message, which show one that has no name of its type.
_begins_unnamed = re.compile(
    r"\s{0,9}(?:id='[\w-]{1,100}' )?source=(?:'[^'\n]{0,200}'|\"[^\"\n]{0,200}\") models_usage=",
    re.ASCII,
).match
#: Beginnings of lists of calls and of results.
_contents = re.compile(r" content=\[(FunctionCall|FunctionExecutionResult)\(").search
_BEGINNING_CHARACTERS = 1_000  #: length of the beginning of a message in which its content begins
_ends_whole = re.compile(r"\btype='[^'\n]{1,100}'\)?\s{0,9}\Z").search
_END_CHARACTERS = 120
_unescaped = re.compile(_ESCAPE).sub
_without_address = re.compile(r" at 0x[0-9A-Fa-f]{1,32}").sub
_is_image = re.compile(r"<[\w.]{0,200}Image ", re.ASCII).match
_CONSTANTS = {"None": None, "True": True, "False": False}
_TIME = ("year", "month", "day", "hour", "minute", "second", "microsecond")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}
_CLOSING = {"[": "]", "(": ")"}


def is_message(value: Any) -> bool:
    """Return whether a value is a message or an event of a team, as an object."""
    kind = value.get("type") if type(value) is dict else None
    return (
        type(kind) is str
        and (kind in _KINDS or kind.startswith(_STRUCTURED))
        and ("source" in value or kind in OF_TOOLS)
        and "content" in value
    )


def begins_printed(text: str) -> bool:
    """Return whether a text begins like a printed message; it may be cut off."""
    return _begins(text) is not None


def kind_of_unread(text: str) -> str | None:
    """Return the type of the message that a text begins to print, "" if it is not known; None if the text begins otherwise."""
    found = _begins(text)
    if found is None:
        return None
    kind = found["kind"]
    if kind is not None:
        is_known = kind in _KINDS or kind == TASK_RESULT or kind.startswith(_STRUCTURED)
        return str(kind) if is_known else None
    if _begins_unnamed(text) is None:
        return None
    content = _contents(text[:_BEGINNING_CHARACTERS])
    if content is None:
        return ""
    return _REQUEST if content[1] == "FunctionCall" else _EXECUTION


def ends_whole(text: str) -> bool:
    """Return whether a text ends like a printed message that is not cut off."""
    return _ends_whole(text[-_END_CHARACTERS:]) is not None


def are_printed(entries: list[Any]) -> bool:
    """Return whether the first entries are printed messages, whole or cut off, except a person's and the program's own at the end."""
    found = False
    for index, entry in enumerate(entries[:_LOOKED_AT]):
        if _is_printed(entry):
            found = True
        elif index < len(entries) - 1 and object_of(entry).get("role") not in PLAIN_ROLES:
            return False
    return found


def with_printed(entries: Iterable[Any]) -> Iterator[tuple[Any, dict[str, Any] | None]]:
    """Yield the entries of a chat, each with the message that is printed in it, or None.

    A run's result is yielded as the messages in it if no printed message is before it.
    """
    has_messages = False
    for entry in entries:
        printed = _printed(entry)
        if printed is None or printed["type"] != TASK_RESULT:
            has_messages = has_messages or printed is not None
            yield entry, printed
        elif has_messages:
            yield entry, printed
        else:
            held = printed["messages"]
            for each in held:
                yield entry, each
            if not held:
                yield entry, None


def _is_printed(entry: Any) -> bool:
    text = _text_of(entry)
    return printed_message(text) is not None or kind_of_unread(text) is not None


def _printed(entry: Any) -> dict[str, Any] | None:
    return printed_message(_text_of(entry))


def _text_of(entry: Any) -> str:
    """Return the text of an entry without calls; empty if there is none."""
    text = entry.get("content") if type(entry) is dict else entry
    return "" if type(text) is not str or (type(entry) is dict and calls_of(entry)) else text


def printed_message(text: str) -> dict[str, Any] | None:
    """Return the message that a text prints, in the form of `model_dump`; None if it is not exactly one message.

    A run's result has the type "TaskResult", and no messages if the text is cut off.
    """
    found = _begins(text)
    if found is None:
        return None
    is_result = found["first"] == "messages"
    if is_result and found["kind"] not in {None, TASK_RESULT}:
        return None
    try:
        reader = _Reader(text, found.start("first"))
        fields = reader.message(is_call=found["opening"] == "(")
    except (KeyError, OverflowError, TypeError, ValueError):
        fields = {}
    if is_result:
        messages = list(filter(is_message, objects_of(fields.get("messages"))))
        return {"type": TASK_RESULT, "messages": messages}
    message = {"type": found["kind"], **fields}
    return message if is_message(message) else None


class _Reader:
    """Reader of a printed message; its methods raise ValueError if the text has another form."""

    def __init__(self, text: str, at: int) -> None:
        self._text, self._at = text, at
        if len(text) > _LIMIT_CHARACTERS:
            raise ValueError

    def message(self, *, is_call: bool) -> dict[str, Any]:
        """Read the fields of a message to the end of the text; those of a call are followed by a bracket."""
        fields: dict[str, Any] = {}
        while (found := _field(self._text, self._at)) is not None:
            if found[1] in fields:  # a second message in one text
                raise ValueError
            self._at = found.end()
            fields[found[1]] = self._value(0)
            if is_call and not self._accept(","):
                break
        if is_call:
            self._expect(")")
        if _end(self._text, self._at) is None:
            raise ValueError
        return fields

    def _value(self, depth: int) -> Any:
        """Read a value."""
        found = _token(self._text, self._at)
        if found is None or depth > _DEPTH:
            raise ValueError
        self._at = found.end()
        kind, written = found.lastgroup, found[found.lastgroup or 0]
        if kind == "string":
            return encodable(_unescaped(_character, written[1:-1]))
        if kind == "number":
            return int(written) if written.lstrip("-").isdecimal() else float(written)
        if kind == "object":
            return {"type": "image"} if _is_image(written) else _without_address("", written)
        if kind == "name":
            if self._accept("("):
                return self._call(written, depth + 1)
            return _CONSTANTS.get(written, written)
        if written == "{":
            return self._dict(depth + 1)
        return self._listed(_CLOSING[written], depth + 1)

    def _call(self, name: str, depth: int) -> Any:
        """Return an object of a call's fields, a time as text, or the only argument."""
        fields: dict[str, Any] = {}
        listed: list[Any] = []
        while not self._accept(")"):
            found = _field(self._text, self._at)
            if found is None:
                listed.append(self._value(depth))
            else:
                self._at = found.end()
                fields[found[1]] = self._value(depth)
            if not self._accept(","):
                self._expect(")")
                break
        if name == "datetime.datetime":
            return _time(listed, fields.get("tzinfo"))
        if name == "datetime.timedelta":
            return timedelta(**fields).total_seconds()
        return listed[0] if listed and not fields else fields

    def _dict(self, depth: int) -> dict[str, Any]:
        held: dict[str, Any] = {}
        while not self._accept("}"):
            key = self._value(depth)
            self._expect(":")
            held[str(key)] = self._value(depth)
            if not self._accept(","):
                self._expect("}")
                break
        return held

    def _listed(self, closing: str, depth: int) -> list[Any]:
        listed: list[Any] = []
        while not self._accept(closing):
            listed.append(self._value(depth))
            if not self._accept(","):
                self._expect(closing)
                break
        return listed

    def _accept(self, mark: str) -> bool:
        found = _mark(self._text, self._at)
        if found is None or found[1] != mark:
            return False
        self._at = found.end()
        return True

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise ValueError


def _character(escape: re.Match[str]) -> str:
    written = escape[0][1:]
    return chr(int(written[1:], 16)) if len(written) > 1 else _LETTERS.get(written, written)


def _time(parts: list[Any], zone: Any) -> str:
    """Return a time as ISO 8601; a zone is its offset in seconds, or the name of UTC."""
    offset = zone if type(zone) in {int, float} else 0
    time = datetime(1, 1, 1, tzinfo=UTC).replace(**dict(zip(_TIME, parts, strict=False)))
    return (time - timedelta(seconds=offset)).isoformat()
