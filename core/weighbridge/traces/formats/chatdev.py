"""ChatDev: the log of a run in its WareHouse.

Each entry begins with its time, with the day before the month. After each answer of the model, the log has its usage. The
agents' messages stand in entries that also have the prompts; their form depends on the phase.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Facts, Run
from weighbridge.traces.fields import cost_of, scalars, time_of, usage_of
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace

KEY = "chatdev_log"  #: key of a log's text in its JSON form
_entry = re.compile(r"\[(\d{4})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d) [A-Z]{1,10}\] (.*)").fullmatch
_START = "**[Preprocessing]**"
_SENT, _RECEIVED = "**[OpenAI_Usage_Info Send]**", "**[OpenAI_Usage_Info Receive]**"
_AMOUNT = re.compile(
    r"(prompt_tokens|completion_tokens|total_tokens|cost): \$?(\d{1,15}(?:\.\d{1,12})?)\s*"
)
_FIELD = re.compile(r"\*\*(task_prompt|project_name|Timestamp)\*\*: (.*)")
_USAGE_LINES = 8  #: number of an entry's first lines, which include its usage
_NO_TEXT = "texts of answers, which stand in the log with the prompts"
_REASONS: dict[Capability, str] = {
    "token_usage": "no entry of this log has usage",
    "timing": "the entries of this log have no times",
    "cost": "this log has neither costs nor tokens",
    "tool_definitions": "ChatDev's models write code as text, and have no tools",
}


class _Entry(NamedTuple):
    time: int | None
    lines: list[str]


def begins_log(line: str) -> bool:
    """Return whether a line is the first of a log."""
    found = _entry(line.rstrip())
    return found is not None and found[5].startswith(_START)


def _matches(value: Any) -> bool:
    log = value.get(KEY) if type(value) is dict else None
    return type(log) is str and begins_log(log.lstrip().split("\n", 1)[0])


def _read(value: dict[str, Any]) -> list[Trace]:
    chat = ChatLog()
    chat.notes.add_fields(value, frozenset({KEY}), "log")
    entries = _entries(value[KEY].lstrip())
    fields = {
        found[1]: found[2].strip() for line in next(entries).lines if (found := _FIELD.match(line))
    }
    chat.say("user", fields.get("task_prompt"))
    sent_at, is_open = None, False
    for entry in entries:
        if entry.lines[0].startswith(_SENT):
            if is_open:
                chat.notes.add("requests without an answer")
            sent_at, is_open = entry.time, True
        elif any(line.startswith(_RECEIVED) for line in entry.lines[:2]):
            amounts = _amounts(entry.lines)
            if "completion_tokens" not in amounts:
                chat.notes.add("embeddings")
                continue
            chat.answer(None, facts=_facts(amounts, sent_at, entry.time))
            chat.notes.add(_NO_TEXT)
            sent_at, is_open = None, False
    if is_open:
        chat.notes.add("requests without an answer")
    run = Run(
        metadata=scalars(project_name=fields.get("project_name"), started=fields.get("Timestamp"))
    )
    return [chat.trace("chatdev", _REASONS, run)]


def _entries(log: str) -> Iterator[_Entry]:
    """Yield the entries with their first lines."""
    entry: _Entry | None = None
    for line in log.split("\n"):
        found = _entry(line.rstrip())
        if found:
            if entry:
                yield entry
            year, day, month, clock, said = found.groups()
            entry = _Entry(time_of(f"{year}-{month}-{day}T{clock}"), [said])
        elif entry and (len(entry.lines) < _USAGE_LINES or entry.lines[0].startswith(_START)):
            entry.lines.append(line)
    if entry:
        yield entry


def _amounts(lines: list[str]) -> dict[str, float]:
    return {found[1]: float(found[2]) for line in lines if (found := _AMOUNT.fullmatch(line))}


def _facts(amounts: dict[str, float], sent_at: int | None, received_at: int | None) -> Facts:
    usage = usage_of(
        *(amounts.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    )
    return Facts(
        usage=usage,
        cost_usd=cost_of(amounts.get("cost")),
        started_at=sent_at,
        ended_at=received_at,
    )


IMPORTER = Importer(
    id="chatdev",
    name="ChatDev logs",
    matches=_matches,
    read=_read,
    fields=(
        ("type", "the task_prompt is user, each [OpenAI_Usage_Info Receive] is llm"),
        ("usage", "prompt_tokens, completion_tokens, total_tokens below it"),
        ("cost_usd", "cost below it, which older versions do not write"),
        (
            "started_at, ended_at",
            "the times of [OpenAI_Usage_Info Send], which newer versions do not write, and of Receive; local",
        ),
        ("metadata", "project_name; started, from Timestamp"),
    ),
    lacks="the model, and what agents said; they have no tools",
    tried_on="a log of 2023 in a public repository; made logs of newer versions",
)
