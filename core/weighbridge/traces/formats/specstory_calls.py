"""Arguments and results of tool calls in SpecStory's histories: in items, in blocks or as text."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from weighbridge.traces.fields import json_in, string_of
from weighbridge.traces.formats.specstory_parts import CALL_ENDS, LINES_BELOW, ToolUse, fence_in

#: A line above the result of a call, with the result itself if that is short.
_outcome = re.compile(
    r"(\*\*Result:\*\*|\*\*Error:\*\*|Result:|Output:|Error:|Output \(error\):)(?: (.+))?"
).fullmatch
_FAILURES = frozenset({"**Error:**", "Error:", "Output (error):"})
_RESULT_FENCES = frozenset({"", "text"})  #: languages of a block with a result
_SHELL_FENCES = frozenset({"bash", "sh", "shell", "zsh", "powershell"})
_SHELLS = frozenset({"shell", "bash"})  #: types of tools that run commands
#: Prefixes of their names in older files, which have no types.
_SHELL_NAMES = ("bash", "shell", "exec", "run_")
_command = re.compile(r"\s*`([^`].*)`\s*").fullmatch
_INPUT, _PARAMETERS = "**Input:**", "Parameters:"
_item = re.compile(r"- ([\w.-]{1,100}): `(.*)").fullmatch
_WRITES = "write"  #: type of tools whose calls show the text that they write


class Body(NamedTuple):
    """What a call shows."""

    arguments: Any
    are_recorded: bool  #: whether the arguments are the JSON that the tool got
    result: str | None
    has_failed: bool


def read_body(use: ToolUse) -> Body:
    """Return the arguments and the result that a call shows."""
    lines = use.lines
    shown: list[str] = []
    blocks: list[tuple[str, str]] = []  #: blocks of the input, with their languages
    result, has_failed, index = None, False, 0
    while index < len(lines):
        line = lines[index].rstrip()
        told, fence = _outcome(line), fence_in(line)
        if told and (told[2] or any(map(fence_in, lines[index + 1 : index + LINES_BELOW]))):
            has_failed = told[1] in _FAILURES
            result = told[2] or _without_fence(lines[index + 1 :])
            break
        if fence and fence[2] in _RESULT_FENCES:
            result = _without_fence(lines[index:])
            break
        end = _end_of_block(lines, index, fence[1]) if fence else index
        if fence:
            blocks.append((fence[2], "\n".join(lines[index + 1 : end])))
        shown += [line for line in lines[index : end + 1] if line.rstrip() not in CALL_ENDS]
        index = end + 1
    recorded = _parameters(shown, blocks)
    has_text_alone = result is None and use.kind != _WRITES and not blocks
    # Below a summary of an editor, or one that names the argument, a text is the result.
    names_argument = recorded is None and _command(use.summary) is not None
    if has_text_alone and (use.is_of_editor or names_argument):
        result = string_of("\n".join(shown).strip())
        shown = shown if use.is_of_editor else []
    arguments = _arguments(use, shown, blocks) if recorded is None else recorded
    return Body(arguments, recorded is not None, result, has_failed)


def _end_of_block(lines: list[str], start: int, fence: str) -> int:
    return next(
        (index for index in range(start + 1, len(lines)) if lines[index].rstrip() == fence),
        len(lines) - 1,
    )


def _without_fence(lines: list[str]) -> str:
    """Return a result without the fence around it."""
    text = "\n".join(lines).strip("\n")
    first, _, rest = text.partition("\n")
    found = fence_in(first)
    return rest.removesuffix(found[1]).removesuffix("\n") if found else text


def _parameters(shown: list[str], blocks: list[tuple[str, str]]) -> dict[str, Any] | None:
    """Return the arguments that stand in a call as JSON; None if there are none."""
    if _PARAMETERS not in shown or _INPUT in shown:
        return None
    try:
        given = json_in(next((text for language, text in blocks if language == "json"), ""))
    except ValueError:
        return None
    return given if type(given) is dict else None


def _arguments(use: ToolUse, shown: list[str], blocks: list[tuple[str, str]]) -> Any:
    """Return the arguments that a call shows: an object if it shows fields, or else its text; None if it shows neither.

    An editor shows a summary in place of them.
    """
    if _INPUT in shown:
        return _items(shown[shown.index(_INPUT) + 1 :])
    if use.kind in _SHELLS or (not use.kind and use.name.lower().startswith(_SHELL_NAMES)):
        command = next((text for language, text in blocks if language in _SHELL_FENCES), None)
        lines = [use.summary, *shown]
        command = command or next((found[1] for line in lines if (found := _command(line))), None)
        if command:
            return {"command": command}
    summary = use.summary.strip(" \u2022")
    if use.is_of_editor and use.kind != _WRITES:
        return {"summary": summary} if summary else None
    return string_of("\n".join([summary, *shown]).strip())


def _items(lines: list[str]) -> dict[str, str]:
    """Return the fields of an input, which is a list; the text of a field may continue over several lines."""
    held: dict[str, list[str]] = {}
    last: list[str] = []
    for line in lines:
        if found := _item(line):
            last = held[found[1]] = [found[2]]
        else:
            last.append(line)
    return {name: "\n".join(texts).rstrip().removesuffix("`") for name, texts in held.items()}
