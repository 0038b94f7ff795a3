"""Chats that Cursor exports as Markdown: the texts of the user and of the agent, without its calls.

Below the title a line states when it was exported, and from which version. A rule and a line with the speaker begin each turn.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Run
from weighbridge.traces.fields import scalars
from weighbridge.traces.importer import Importer
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace

KEY = "cursor_export"  #: key of a file's text in its JSON form
_HEAD = re.compile(
    r"# (?P<title>[^\n]{0,500})\n\s{0,9}"
    r"_Exported on [^\n]{1,200} from Cursor(?: \((?P<version>[^()\n]{1,60})\)| via [^\n]{1,60})?_[ \t\r]*(?:\n|\Z)"
)
_SPEAKERS = {"**User**": "user", "**Cursor**": "assistant"}
_RULE = "---"
_REASONS: dict[Capability, str] = {
    "token_usage": "Cursor's export has no tokens",
    "timing": "Cursor's export has only the time of the export",
    "cost": "Cursor's export has neither a cost nor tokens",
    "tool_definitions": "Cursor's export has no tools",
}
_LEFT_OUT: dict[Capability, str] = dict.fromkeys(
    ("llm_calls", "tool_calls"),
    "Cursor's export leaves out the tool calls, and joins the answers between them",
)


def begins_log(opening: str) -> bool:
    """Return whether a text begins as an export does."""
    return opening.startswith("# ") and _HEAD.match(opening) is not None


def _matches(value: Any) -> bool:
    text = value.get(KEY) if type(value) is dict else None
    return type(text) is str and begins_log(text.lstrip())


def _read(value: dict[str, Any]) -> list[Trace]:
    text = value[KEY].lstrip()
    head = _HEAD.match(text)
    about = head.groupdict() if head else {}
    chat = ChatLog()
    chat.notes.add_fields(value, frozenset({KEY}), "export")
    for role, said in _turns(text[head.end() if head else 0 :]):
        if role == "assistant":
            chat.answer(said or None)
        else:
            chat.say(role, said)
    run = Run(
        metadata=scalars(
            title=(about.get("title") or "").strip() or None, cursor_version=about.get("version")
        )
    )
    return [with_unknown_part(chat.trace("cursor-export", _REASONS, run), _LEFT_OUT)]


def _turns(text: str) -> Iterator[tuple[str, str]]:
    """Yield each turn's role and text."""
    role, held = "", [_RULE]  #: lines since the last speaker's
    filled = _RULE  #: the last line that is not blank
    for line in text.split("\n"):
        bare = line.rstrip()
        if bare in _SPEAKERS and filled == _RULE:
            if role:
                yield role, _said(held)
            role, held = _SPEAKERS[bare], []
        else:
            held.append(line.rstrip("\r"))
        filled = bare or filled
    if role:
        yield role, _said(held)


def _said(lines: list[str]) -> str:
    """Return the text of a turn without the rule below it."""
    return "\n".join(lines).rstrip().removesuffix(f"\n{_RULE}").strip()


IMPORTER = Importer(
    id="cursor-export",
    name="Cursor chat exports",
    matches=_matches,
    read=_read,
    fields=(
        ("type", "a turn of Cursor is llm, one of User is user"),
        ("output", "the text of the turn"),
        ("metadata", "title; cursor_version"),
    ),
    lacks="tool calls, tokens, times and cost; the number of model calls is a lower bound",
    tried_on="real exports of Cursor 2.0 and 2.4",
)
