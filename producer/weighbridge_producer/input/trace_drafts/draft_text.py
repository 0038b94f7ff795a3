"""The text of a draft: YAML whose names are quoted where they have to be, with remarks as comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge_producer.input.trace_drafts.draft import Draft, Line

_PLAIN = re.compile(r"/[A-Za-z0-9_/.~-]*|[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
#: Words that YAML takes for something else than a text.
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"])
_REMARK_LENGTH = 300


def text_of(draft: Draft, headers: Sequence[str]) -> str:
    """Return the draft as the text of a mapping file."""
    return "".join(f"{line}\n" for line in _lines(draft, headers))


def remarks_in(draft: Draft) -> int:
    """Return the number of remarks that a draft has."""
    remarks = [
        draft.traces_remark,
        draft.by_remark,
        draft.steps_remark,
        draft.calls_remark,
        *draft.notes,
    ]
    remarks += [typed.remark for typed in draft.types.values()]
    remarks += [line.remark for line in draft.lines]
    return sum(map(bool, remarks))


def quoted(text: str) -> str:
    """Return a text as a scalar of YAML that stands for it and nothing else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char == " " or (char.isprintable() and not 0xD800 <= ord(char) <= 0xDFFF):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # fmt: skip


def comment(text: str) -> str:
    """Return a text on one line, without anything that would end a comment or control a terminal."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= _REMARK_LENGTH else f"{line[: _REMARK_LENGTH - 3]}..."


def _lines(draft: Draft, headers: Sequence[str]) -> Iterator[str]:
    for note in (*headers, *draft.notes):
        yield f"# {comment(note)}"
    if draft.traces is not None:
        yield _noted(f"traces: {quoted(draft.traces)}", draft.traces_remark)
    if draft.by:
        yield _noted(f"lines: {quoted(draft.by)}", draft.by_remark)
    yield from _fields(draft.lines, "", "")
    yield _noted(f"steps: {quoted(draft.steps)}", draft.steps_remark)
    yield "step:"
    if draft.kinds:
        yield f"  type: {pointers_text(draft.kinds)}"
    yield "  types:"
    for word, typed in draft.types.items():
        yield _noted(f"    {quoted(word)}: {typed.type}", typed.remark)
    yield from _fields(draft.lines, "step", "  ")
    for section, at in (("calls", draft.calls_at), ("results", draft.results_at)):
        fields = list(_fields(draft.lines, section, "  "))
        if at is not None or fields:
            is_open = at is not None or any(
                line.section == section and line.is_active for line in draft.lines
            )
            yield f"{section}:" if is_open else f"# {section}:"
            if at is not None:
                yield _noted(
                    f"  at: {quoted(at)}", draft.calls_remark if section == "calls" else ""
                )
            yield from fields


def pointers_text(pointers: Sequence[str]) -> str:
    """Return one pointer, or a list of several, as YAML."""
    listed = ", ".join(map(quoted, pointers))
    return listed if len(pointers) == 1 else f"[{listed}]"


def _noted(line: str, remark: str) -> str:
    return f"{line}  # {comment(remark)}" if remark else line


def _fields(lines: Sequence[Line], section: str, indent: str) -> Iterator[str]:
    opened = ""
    for line in (line for line in lines if line.section == section):
        name, _, part = line.name.partition(".")
        inner = indent
        if part:
            is_open = any(
                other.is_active and other.section == section and other.name.startswith(f"{name}.")
                for other in lines
            )
            if is_open and opened != name:
                opened = name
                yield f"{indent}{name}:"
            inner = indent + "  " if is_open else indent
        value = line.literal or pointers_text(line.pointers)
        key = quoted(part) if part and inner != indent else line.name
        text = f"{key}: {value}"
        if not line.is_active:
            text = f"# {text}"
        yield inner + _noted(text, line.remark)
