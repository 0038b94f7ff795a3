"""Sessions of aider's chat history: a Markdown file, to which each session appends what was typed, answered and shown.

`io.py` of aider writes what was typed after `####`, and what aider shows after `>`, of several lines only before the first.
It ends either with two spaces, so the same marks without these are part of an answer, which begins below an empty line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Run
from weighbridge.traces.fields import counts_of, scalars
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace

SESSION = "# aider chat started at "  #: how the first line of a session begins
KEY = "aider_chat"  #: under which a session stands as JSON
_TYPED = re.compile(r"####(?: (.*))?")
_SHOWN = re.compile(r"> ?(.*)")
_END = "  "  #: of what was typed or shown
_COMMANDS = ("/", "!")  #: how commands to aider begin
_BLANK = "<blank>"  #: what aider writes where only Enter was pressed
_USAGE = re.compile(r"Tokens: .{1,80} received\.")
_SHOWN_USAGE = "> Tokens: "
_MODEL = re.compile(r"(?:Main m|M)odel: (\S+)(?: with .*)?")
_EDITOR = "Editor model: "
_REASONS: dict[Capability, str] = {
    "token_usage": "aider rounds the tokens that it writes to its history",
    "timing": "only the start of a session is recorded",
    "cost": "aider rounds the cost that it writes to its history",
    "tool_definitions": "aider's models write edits as text, and have no tools",
}

_Kind = Literal["typed", "shown", "answer"]


class _Part(NamedTuple):
    kind: _Kind
    text: str


def sessions_in(text: str) -> list[dict[str, str]]:
    """Return the sessions in the text of a history in which something was typed or answered."""
    starts = [0, *(found.end() for found in re.finditer(rf"\n(?={re.escape(SESSION)})", text))]
    ends = [*starts[1:], len(text)]
    parts = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return [{KEY: part} for part in parts if has_dialogue(part)]


def has_dialogue(session: str) -> bool:
    """Return whether anything was typed or answered in the text of a session."""
    return any(part.kind != "shown" for part in _parts(session))


def _parts(session: str) -> Iterator[_Part]:
    """Yield each message that was typed, answered or shown, in order; messages shown in a row are one."""
    held: list[str] = []
    kind: _Kind = "answer"
    for found, text in _lines(session):
        if found != kind or text is None:
            yield from _part(kind, held)
            held = []
        kind = found
        if text is not None:
            held.append(text)
    yield from _part(kind, held)


def _part(kind: _Kind, lines: list[str]) -> Iterator[_Part]:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield _Part(kind, text)


def _lines(session: str) -> Iterator[tuple[_Kind, str | None]]:
    """Yield each line with its kind, without its mark; None for the empty line between two messages that were typed."""
    lines = [line.rstrip("\r") for line in session.split("\n")]
    # An editor may have removed the spaces at the ends of lines. Then an answer ends where aider shows its tokens.
    is_trimmed = not any(line.startswith("####") and line.endswith(_END) for line in lines)
    shows_usage = any(line.startswith(_SHOWN_USAGE) for line in lines)
    kind: _Kind = "shown"
    goes_on = False  #: whether the next line is shown too, unless it has a mark
    is_command = False  #: whether what was typed last is a command, which the model does not answer
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_whole = line.endswith(_END)
        if is_trimmed:
            is_whole = not (shows_usage and kind == "answer") or line.startswith(_SHOWN_USAGE)
        typed = _TYPED.fullmatch(line) if is_whole else None
        shown = None if typed else _SHOWN.fullmatch(line)
        if line.startswith(SESSION):
            kind, goes_on = "shown", False
        elif typed:
            is_command = (typed[1] or "").startswith(_COMMANDS)
            kind = "typed"
            yield kind, (typed[1] or "").rstrip(" ")
        elif shown and (is_whole or kind == "shown" or (kind == "typed" and is_command)):
            kind, goes_on = "shown", not is_whole or bool(following)
            yield kind, shown[1].removesuffix(_END)
        elif kind == "shown" and goes_on:
            # Two spaces may also end a line of code, which another line follows.
            goes_on = bool(following) or not (is_trimmed or is_whole)
            yield kind, line.removesuffix(_END)
        elif kind == "typed" and not line:
            yield kind, None
        elif line or kind == "answer":
            kind = "answer"
            yield kind, line


def _matches(value: Any) -> bool:
    session = value.get(KEY) if type(value) is dict else None
    return type(session) is str and session.lstrip().startswith(SESSION)


def _read(value: dict[str, Any]) -> list[Trace]:
    chat = ChatLog()
    session: str = value[KEY]
    chat.notes.add_fields(value, frozenset({KEY}), "session")
    shown: list[str] = []
    has_begun = False
    for kind, text in _parts(session):
        if kind == "shown":
            shown += text.split("\n")
            # What is shown first says how aider was started; later it answers, as a user would.
            chat.say("user" if has_begun else "system", text, name="aider")
            continue
        has_begun = True
        if kind == "answer":
            chat.answer(text)
        else:
            chat.say("user", "" if text == _BLANK else text)
    run = Run(
        model=_model(shown),
        metadata=scalars(started=_started(session)),
    )
    counts = counts_of(sum(_USAGE.match(line) is not None for line in shown))
    return [chat.trace("aider", _REASONS, run, counts=counts, totals_from="the lines `Tokens:`")]


def _started(session: str) -> str:
    """Return the local time at which a session started."""
    return session.lstrip()[len(SESSION) :].split("\n", 1)[0].strip()


def _model(shown: list[str]) -> str | None:
    """Return the model of all answers, if there is one."""
    found = {model[1] for line in shown if (model := _MODEL.fullmatch(line))}
    has_editor = any(line.startswith(_EDITOR) for line in shown)
    return found.pop() if len(found) == 1 and not has_editor else None


IMPORTER = Importer(
    id="aider",
    name="aider chat histories",
    matches=_matches,
    read=_read,
    fields=(
        ("type", "lines after #### are user, after > user or, before the first request, system"),
        ("name", "aider, of what it shows"),
        ("output", "the lines, without their marks"),
        ("model", "Model:, if one model answers"),
        ("counts of the run", "lines that begin with Tokens:, one for each answer"),
        ("metadata", "started, the local time"),
    ),
    tried_on="the histories in four public repositories",
    lacks="tokens and cost, which it rounds; times of messages; edits are text, not tool calls",
)
