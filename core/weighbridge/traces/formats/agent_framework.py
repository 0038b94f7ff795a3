"""Microsoft's Agent Framework for Python: messages, responses, sessions and streamed updates, as `to_dict()` writes them.

The usage of a response is that of all its model calls. That of streamed updates is the usage so far where they say `replace`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.conversation import (
    CHAT_FIELDS,
    MESSAGE_FIELDS,
    Run,
    are_messages,
    read_messages,
)
from weighbridge.traces.fields import (
    added,
    count_of,
    counted,
    id_of,
    input_with_caches,
    object_of,
    objects_of,
    string_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer, objects_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.traces.model import Capability, Trace, Usage

_LOOKED_AT = 20
_CONTENTS, _MESSAGES = "contents", "messages"
_UPDATE = "_response_update"
_STORE = "chat_message_store_state"  #: key of the messages of a thread, which older versions have instead of sessions
_TEXT, _CALL, _RESULT, _USAGE = "text", "function_call", "function_result", "usage"
_REASONING = "text_reasoning"
_CACHED = ("cache_read_input_token_count", "prompt/cached_tokens", "openai.cached_input_tokens")
_RUN_FIELDS = frozenset({_MESSAGES, "type", "usage_details", "model", "model_id", "response_id"})
_FIELDS = MESSAGE_FIELDS | {"author_name", "message_id"}
_REASONS: dict[Capability, str] = {
    "token_usage": "these messages come without the usage_details of their response",
    "timing": "messages of the Agent Framework have no times",
    "cost": "the Agent Framework records no cost, and these messages come without tokens",
    "tool_definitions": "the Agent Framework does not record the tools that were offered",
}


def _matches(value: Any) -> bool:
    held = _listed(value)
    return bool(held) and all(map(_is_message, held[:_LOOKED_AT]))


def _listed(value: Any) -> list[Any]:
    """Return the messages or updates in a value; empty if it has none."""
    if type(value) is dict:
        return _of_session(value) or _list(value.get(_MESSAGES))
    return _list(value)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _of_session(value: dict[str, Any]) -> list[Any]:
    """Return the messages that the providers of a session keep in its state, or those of a thread."""
    state = object_of(value.get("state")) if "session_id" in value else {}
    kept = (object_of(held).get(_MESSAGES) for held in state.values())
    return next(filter(None, map(_list, kept)), None) or _list(
        object_of(value.get(_STORE)).get(_MESSAGES)
    )


def _is_message(value: Any) -> bool:
    if type(value) is not dict or "content" in value or type(value.get(_CONTENTS)) is not list:
        return False
    if not all(type(part) is dict and type(part.get("type")) is str for part in value[_CONTENTS]):
        return False
    return _is_update(value) or are_messages([{"role": _role(value)}])


def _is_update(value: dict[str, Any]) -> bool:
    return word_of(value.get("type")).endswith(_UPDATE)


def _is_line(value: Any) -> bool:
    return _is_message(value) and _is_update(value)


def _role(message: dict[str, Any]) -> Any:
    """Return the role of a message, which older versions write as an object."""
    role = message.get("role")
    return role.get("value") if type(role) is dict else role


def _read(value: Any) -> list[Trace]:
    beside = object_of(value)
    listed = objects_in(_listed(value), "message or update")
    run = Run(
        id=string_of(beside.get("session_id")),
        model=string_of(beside.get("model")) or string_of(beside.get("model_id")),
        usage=_usage(beside.get("usage_details")) or _usage_of(listed),
        fields=_FIELDS,
    )
    if not _of_session(beside):
        run.notes.add_fields(beside, _RUN_FIELDS, "run")
    run.totals_from = "usage_details" if run.usage else ""
    messages = _joined(listed) if any(map(_is_update, listed)) else map(_as_chat, listed)
    return [read_messages(list(messages), "agent-framework", run, _REASONS)]


def _as_chat(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with its contents as parts; the usage among them is that of the run."""
    rest = {key: item for key, item in message.items() if key not in {_CONTENTS, "type"}}
    parts = [_part(part) for part in objects_of(message[_CONTENTS]) if part.get("type") != _USAGE]
    name = string_of(message.get("author_name"))
    return {**rest, "role": _role(message), "name": name, "content": parts}


def _part(part: dict[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind == _RESULT:
        result, reason = part.get("result"), part.get("exception")
        failed = reason is not None
        content = reason if failed and result is None else result
        return {
            "type": "tool_result",
            "call_id": part.get("call_id"),
            "content": content,
            "is_error": failed,
        }
    return {**part, "type": "reasoning"} if kind == _REASONING else part


def _joined(updates: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the messages of which streamed updates are pieces; one without a role or an ID belongs to the message before it."""
    pieces: _Pieces | None = None
    for update in updates:
        name = id_of(update.get("message_id"))
        if pieces is None or not pieces.go_on_with(_role(update), name):
            if pieces and pieces.parts:
                yield pieces.message()
            pieces = _Pieces(_role(update) or "assistant", update.get("author_name"))
        pieces.name = name or pieces.name
        for part in objects_of(update[_CONTENTS]):
            pieces.add(part)
    if pieces and pieces.parts:
        yield pieces.message()


class _Pieces:
    """Pieces of a message, joined."""

    def __init__(self, role: Any, author: Any) -> None:
        self.name: str | None = None  #: the message's ID
        self.parts: list[dict[str, Any]] = []
        self._role, self._author = role, author
        self._calls: dict[str, int] = {}  #: indices of calls, by their IDs
        self._last_call: int | None = None

    def go_on_with(self, role: Any, name: str | None) -> bool:
        """Return whether an update of a role and an ID belongs to this message."""
        is_other = name and self.name and name != self.name
        return role in {None, "", self._role} and not is_other

    def add(self, piece: dict[str, Any]) -> None:
        """Append a piece to the text or the call that it goes on with, or else as a part of its own."""
        kind, before = piece.get("type"), self.parts[-1] if self.parts else {}
        if before.get("type") == kind == _TEXT:
            self.parts[-1] = {
                **before,
                _TEXT: word_of(before.get(_TEXT)) + word_of(piece.get(_TEXT)),
            }
        elif kind == _CALL:
            self._add_call(piece)
        elif kind != _USAGE:
            self.parts.append(piece)

    def _add_call(self, piece: dict[str, Any]) -> None:
        call_id = id_of(piece.get("call_id"))
        index = self._last_call if call_id is None else self._calls.get(call_id)
        if index is not None and type(piece.get("arguments")) is str:
            call = self.parts[index]
            both = word_of(call.get("arguments")) + word_of(piece.get("arguments"))
            self.parts[index] = {**call, "arguments": both}
            return
        self._last_call = len(self.parts)
        if call_id is not None:
            self._calls.setdefault(call_id, self._last_call)
        self.parts.append(piece)

    def message(self) -> dict[str, Any]:
        """Return the message."""
        return _as_chat({"role": self._role, "author_name": self._author, _CONTENTS: self.parts})


def _usage_of(listed: list[dict[str, Any]]) -> Usage | None:
    """Return the usage among the contents of updates or messages: their sum, or the last that replaces those before it."""
    usages: list[Usage | None] = []
    for message in listed:
        for part in objects_of(message[_CONTENTS]):
            if part.get("type") == _USAGE:
                if part.get("merge_mode") == "replace":
                    usages.clear()
                usages.append(_usage(part.get("usage_details") or part.get("details")))
    return added(usages)


def _usage(details: Any) -> Usage | None:
    held = object_of(details)
    sent, received = held.get("input_token_count"), held.get("output_token_count")
    total = count_of(held.get("total_token_count"))
    cached = next((count for name in _CACHED if (count := count_of(held.get(name)))), None)
    sent = input_with_caches(count_of(sent), count_of(received), total, cached or 0, is_apart=False)
    return counted(usage_of(sent, received, total, cached))


IMPORTER = Importer(
    id="agent-framework",
    name="Microsoft Agent Framework messages",
    matches=_matches,
    read=_read,
    is_line=_is_line,
    fields=(
        ("id", "session_id of a session"),
        *CHAT_FIELDS[:2],
        ("name, arguments", "name and arguments of a function_call; author_name of a message"),
        ("output", "contents: text, and result of a function_result"),
        ("error", "exception of a function_result: the result is the reason"),
        ("usage of the run", "usage_details of a response, or the contents of type usage"),
    ),
    lacks="times, cost, the tools offered and the tokens of single calls; of sessions and messages all tokens",
    tried_on="records made with agent-framework-core 1.23 and a scripted model",
)
