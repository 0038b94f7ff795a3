"""Objects, lists and texts that a text holds as JSON, or in Python's notation, as pandas writes them into CSV files."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import jiter

from weighbridge.settings import MIB

_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
#: A text as Python's `repr` writes it.
PYTHON_TEXT = rf"(?:'(?:[^'\\\n]|{_ESCAPE})*+'|\"(?:[^\"\\\n]|{_ESCAPE})*+\")"
_TOKEN = re.compile(rf"{PYTHON_TEXT}|\b(?:None|True|False)\b")
_NAMES = {"None": "null", "True": "true", "False": "false"}
_PYTHON_CHARACTERS = MIB  #: what is longer is not read, since it takes longer than JSON


def strict_json(text: str) -> Any:
    """Parse the JSON that a text contains as strictly as that of lines, except that integers may be of any size.

    Raises ValueError, also for a key that occurs twice in one object.
    """
    return jiter.from_json(text.encode(), catch_duplicate_keys=True, allow_inf_nan=False)


def json_or_python(text: str) -> Any:
    """Parse an object or a list as JSON or in Python's notation; raises ValueError if it is neither."""
    try:
        return strict_json(text)
    except ValueError:
        if len(text) > _PYTHON_CHARACTERS or not _TOKEN.search(text):
            raise
    return strict_json(_TOKEN.sub(_as_json, text))


def _as_json(token: re.Match[str]) -> str:
    written = token[0]
    try:
        return _NAMES.get(written) or json.dumps(ast.literal_eval(written))
    except SyntaxError as error:  # a character beyond the last one of Unicode
        raise ValueError(str(error)) from None
