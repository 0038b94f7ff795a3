"""Values of untrusted JSON as the type that is expected: texts, objects, lists, IDs and arguments."""

from __future__ import annotations

import ast
from typing import Any

import msgspec
import orjson

from weighbridge.text import encodable_json
from weighbridge.traces.images import image_mark

_LITERAL_CHARACTERS = 50_000  #: maximum length of a text in Python's notation that is parsed
_ID_NUMBERS = 2**64  #: upper limit of a number that is an ID
#: Fields that hold a whole run; the events beside one are a log of another program.
_WHOLE_RUNS = ("messages", "steps", "items", "trace", "trajectory")


def parse_arguments(value: Any) -> Any:
    """Return a tool call's arguments: the object in a JSON string, or else the value unchanged."""
    if type(value) is not str:
        return value
    try:
        parsed = msgspec.json.decode(value)
    except (ValueError, RecursionError):
        return value
    return parsed if type(parsed) is dict else value


def json_in(text: str | bytes | bytearray) -> Any:
    """Return the JSON value in a text, with integers unchanged, and lone surrogates as U+FFFD.

    Raises ValueError if the text is not JSON.
    """
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        raw = text.encode() if isinstance(text, str) else bytes(text)
        mended = encodable_json(raw)
        if mended is raw:
            raise
    return json_in(mended)


def python_object_in(text: str) -> dict[str, Any] | None:
    """Return the dict in a text in Python's own notation; None if there is none or the text is long."""
    if len(text) > _LITERAL_CHARACTERS or not text.lstrip().startswith("{"):
        return None
    try:
        held = json_in(orjson.dumps(ast.literal_eval(text.strip())))
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        return None  # a TypeError also for what JSON does not have, such as a set
    return held if type(held) is dict else None


def events_of(value: Any) -> list[Any]:
    """Return the events of a stream that was kept as a list, or in an object that holds no whole run beside them."""
    if type(value) is dict:
        value = None if any(map(value.get, _WHOLE_RUNS)) else value.get("events")
    return value if type(value) is list else []


def text_of(content: Any) -> str | None:
    """Return the text of a message's content: a string, or the text parts of a list; None if there is no text."""
    if type(content) is str:
        return content
    if type(content) is not list:
        return None
    texts: list[Any] = [
        part["text"] if type(part) is dict else part
        for part in content
        if type(part) is str or (type(part) is dict and type(part.get("text")) is str)
    ]
    return "\n".join(texts) if texts else None


def text_with_images(content: Any) -> str | None:
    """Return the text of a message's content as `text_of` does, followed by a mark for each image in a list of parts."""
    text = text_of(content)
    if text is None or type(content) is not list:
        return text
    others = [part for part in content if type(part) is dict and type(part.get("text")) is not str]
    return "\n".join([text, *filter(None, map(image_mark, others))])


def object_of(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, or else an empty object."""
    return value if type(value) is dict else {}


def plain_names(value: Any) -> dict[str, Any]:
    """Return an object with its names in lower case, without `_`: .NET writes FunctionName or functionName, Python function_name."""
    return {
        name.replace("_", "").lower(): held
        for name, held in object_of(value).items()
        if type(name) is str
    }


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; empty for a value that is not a list."""
    return [item for item in value if type(item) is dict] if type(value) is list else []


def scalars(**values: Any) -> dict[str, Any]:
    """Return the values that are texts, numbers or booleans, by their names."""
    return {name: item for name, item in values.items() if type(item) in {str, int, float, bool}}


def string_of(value: Any) -> str | None:
    """Return the value if it is a non-empty string, or else None."""
    return value if type(value) is str and value else None


def word_of(value: Any) -> str:
    """Return the value if it is a string, or else an empty string: a value to look up in a set of words."""
    return value if type(value) is str else ""


def id_of(value: Any) -> str | None:
    """Return a non-empty ID, a numeric one as its digits; None for any other value."""
    if type(value) is str:
        return value or None
    return str(value) if type(value) is int and 0 <= value < _ID_NUMBERS else None
