"""AutoCodeRover's conversations: chat messages with search calls in the text of an answer, and results in the next message.

Another model call, whose messages are in another file, extracts the calls from an answer. The calls that ran are those that
the next message reports, each as `Result of <call>:`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import PROGRAM, Run, are_messages
from weighbridge.traces.fields import object_of, python_object_in, string_of, text_of, word_of
from weighbridge.traces.importer import Importer, damaged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace

_LOOKED_AT = 20  #: number of messages, one of which lists the search APIs
_OPENINGS = (
    "You are a software developer maintaining a large project.",
    "You are working on an issue submitted to your project.",
)
_OFFERS = ("you can use below search APIs", "you can use the following search APIs")
_REPORT = "Result of "
_CALL = re.compile(r"^Result of ((?:search|get)_\w{1,60})\(", re.MULTILINE)
_CALL_END = "):\n"  #: end of the call in a report
#: Messages with which AutoCodeRover refuses an answer in which it found nothing to run.
_REFUSALS = (
    "The search API calls seem not valid.",
    "The buggy locations is not precise.",
    "Failed to retrieve code from all bug locations.",
)
_LOCATED = "Here are the code in buggy locations:"
#: Parameters of the search APIs; a report states their values without their names.
_PARAMETERS = {
    "search_class": ("class_name",),
    "search_class_in_file": ("class_name", "file_name"),
    "search_method": ("method_name",),
    "search_method_in_class": ("method_name", "class_name"),
    "search_method_in_file": ("method_name", "file_path"),
    "search_code": ("code_str",),
    "search_code_in_file": ("code_str", "file_path"),
    "get_code_around_line": ("file_path", "line_number", "window_size"),
}
_REASONS: dict[Capability, str] = {
    "token_usage": "conversations of AutoCodeRover carry no token counts; cost.json beside them has those of the run",
    "timing": "conversations of AutoCodeRover carry no times",
    "cost": "conversations of AutoCodeRover carry no cost; cost.json beside them has that of the run",
    "tool_definitions": "AutoCodeRover describes its search APIs in the prompt, not as definitions",
}


def _matches(value: Any) -> bool:
    messages = value.get("messages") if type(value) is dict else value
    if type(messages) is not list or len(messages) < 2:
        return False
    first = object_of(messages[0])
    said = word_of(first.get("content")).lstrip()
    if first.get("role") != "system" or not said.startswith(_OPENINGS[0]):
        return False
    return (
        _OPENINGS[1] in said
        and are_messages(messages)
        and any(map(_is_offer, messages[:_LOOKED_AT]))
    )


def _is_offer(message: Any) -> bool:
    said = word_of(message.get("content"))
    return message.get("role") == "user" and any(words in said for words in _OFFERS)


def _read(value: Any) -> list[Trace]:
    held = value if type(value) is dict else {"messages": value}
    chat = ChatLog()
    chat.notes.add_fields(held, frozenset({"messages", "id"}), "run")
    for number, message in enumerate(held["messages"], 1):
        if type(message) is not dict or type(message.get("role")) is not str:
            raise damaged(f"message {number} is not an object with a role")
        _add(message, chat)
    return [chat.trace("auto-code-rover", _REASONS, Run(id=string_of(held.get("id"))))]


def _add(message: dict[str, Any], chat: ChatLog) -> None:
    said = text_of(message.get("content")) or ""
    role = message["role"]
    reports = said.startswith(_REPORT) and role == "user"
    if reports or (role == "user" and said.startswith((*_REFUSALS, _LOCATED))):
        chat.notes.add("answers that a model call in another file parsed")
    called = list(_reported(said)) if reports else []
    if not called:
        chat.messages.append(message)
        return
    before = chat.messages[-1] if chat.messages else {}
    if before.get("role") != "assistant":
        before = {"role": PROGRAM, "content": None}
        chat.messages.append(before)
    elif type(before.get("tool_calls")) is not list:
        before = {**before, "tool_calls": []}
        chat.messages[-1] = before
    before["tool_calls"] = [*before.get("tool_calls", []), *(call for call, _ in called)]
    chat.messages += [{"role": "tool", "content": result} for _, result in called]


def _reported(text: str) -> Iterator[tuple[Call, str]]:
    """Yield each call that a message reports, with its result."""
    found: list[tuple[Call, int, int]] = []
    at = 0
    for header in _CALL.finditer(text):
        if header.start() < at:
            continue  # within the arguments of the call before
        end = text.find(_CALL_END, header.end())
        if end < 0 and text.endswith(_CALL_END[:-1]):
            end = len(text) - 2
        if end < 0:
            break  # no later call has an end either
        at = end + 2
        given = text[header.end() : end]
        found.append((Call(None, header[1], _arguments(header[1], given)), header.start(), at))
    ends = [start for _, start, _ in found[1:]] + [len(text)]
    for (call, _, begins), end in zip(found, ends, strict=False):
        yield call, text[begins:end].strip("\n")


def _arguments(name: str, text: str) -> Any:
    """Return the arguments of a call by name; their text if it does not have one value for each parameter."""
    held = python_object_in(f'{{"given": [{text}]}}')
    given = held.get("given") if held else None
    names = _PARAMETERS.get(name, ())
    if type(given) is not list or len(given) != len(names):
        return text
    return dict(zip(names, given, strict=True))


IMPORTER = Importer(
    id="auto-code-rover",
    name="AutoCodeRover conversations",
    matches=_matches,
    read=_read,
    fields=(
        ("id of a step", "its number: s1, s2, ..."),
        (
            "type",
            "role: assistant is llm; each `Result of <call>:` at the beginning of a line of the user message that follows it is tool",
        ),
        (
            "name, arguments",
            "the call after `Result of`, its values by the names of the parameters",
        ),
        ("output", "content; of a call, the text up to the next one that is reported"),
    ),
    tried_on="real conversations and write_patch logs of AutoCodeRover in a public repository",
    lacks="tokens, times, cost, tool definitions; the model calls that parse the answers, which are in files of their own, so that model calls are at least those read; whether a search failed; searches that AutoCodeRover makes itself for the locations of a bug",
)
