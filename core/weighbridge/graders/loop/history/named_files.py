"""The file that a call names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.call_kinds import is_command
from weighbridge.graders.loop.history.reading_code import (
    code_in_command,
    only_reads_files,
    opened_file,
)

if TYPE_CHECKING:
    from weighbridge.graders.loop.history.actions import Call

_FILES = ("path", "file_path", "filepath", "filename", "file", "file_name", "target_file")
_names_no_file = frozenset(_FILES).isdisjoint
_COMMAND_CHARACTERS = 2_000  #: a longer command does more than to read a file
_WORD = re.compile(r"[\w./~-]+")
_ENDING_CHARACTERS = 10  #: of the name of a file without a folder


def file_in(call: Call) -> str:
    """Return the only file that the arguments of a call name; empty for any other call."""
    value = call.arguments.value
    if type(value) is dict and not _names_no_file(value):
        for key in _FILES:
            if type(name := value.get(key)) is str:
                return name
    if call.command is None and not (type(value) is dict and "code" in value):
        return ""
    if code := _code_of(call):
        return opened_file(code)
    if not is_command(call) or len(call.arguments.key) > _COMMAND_CHARACTERS:
        return ""
    words = (word.strip(".") for word in _WORD.findall(call.arguments.texts))
    named = set(filter(_is_path, words))
    return named.pop() if len(named) == 1 else ""


def _code_of(call: Call) -> str:
    """Return the short code that a call runs to read files; empty for any other call."""
    value = call.arguments.value
    code = value.get("code") if type(value) is dict else None
    if type(code) is not str:
        code = code_in_command(call.command) if call.command else ""
    is_short = len(code) <= _COMMAND_CHARACTERS
    return code if code and is_short and only_reads_files(code) else ""


def _is_path(word: str) -> bool:
    """Return whether a word is a path, or the name of a file with an ending."""
    name, _, ending = word.rpartition(".")
    is_file = bool(name) and ending[:1].isalpha() and ending.isalnum()
    return "/" in word[:-1] or (is_file and len(ending) <= _ENDING_CHARACTERS)
