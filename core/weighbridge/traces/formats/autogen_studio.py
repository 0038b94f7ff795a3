"""AutoGen Studio: rows of the table of messages in its database, and the model calls that it logs among the messages of a run.

A logged call is also in the message or the event that it led to, with the same tokens. Calls that select a speaker are not.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.chat.conversation import NO_FACTS, Facts
from weighbridge.traces.fields import (
    count_of,
    counted,
    id_of,
    json_in,
    object_of,
    objects_of,
    read_usage,
    string_of,
    time_of,
)
from weighbridge.traces.stored_rows import (
    ROWS,
    SESSION,
    Sessions,
    are_rows,
    json_cell,
    rows_by_session,
)

if TYPE_CHECKING:
    from weighbridge.traces.chat.chat_log import ChatLog

_LOGGED = "llm_call_event"  #: the source of a message with a logged call as its text
_TOKENS = ("prompt_tokens", "completion_tokens")
_Tokens = tuple[int | None, int | None]
_Key = _Tokens | str  #: what tells a call: its tokens, or its text


def rows_in(value: Any) -> list[dict[str, Any]] | None:
    """Return rows of the table of messages; None for anything else."""
    if type(value) is dict:
        value = value.get(ROWS) if type(value.get(SESSION)) is dict else None
    return value if are_rows(value, _is_row) else None


def _is_row(value: Any) -> bool:
    return type(value) is dict and {"run_id", "session_id", "config"} <= value.keys()


def runs_in(rows: Any) -> Sessions:
    """Return the rows of each run."""
    return rows_by_session(rows, ("run_id",), "id") if are_rows(rows, _is_row) else []


def messages_of(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Return the messages in rows, with the times at which they were stored, and how many rows have none."""
    messages = []
    for row in objects_of(rows):
        message = json_cell(row, "config")
        if type(message) is dict and "content" in message and "source" in message:
            messages.append({"created_at": row.get("created_at"), **message})
    return messages, len(rows) - len(messages)


def is_logged_call(message: dict[str, Any]) -> bool:
    """Return whether a message has a logged model call as its text."""
    return message.get("source") == _LOGGED and type(message.get("content")) is str


class LoggedCalls:
    """The logged model calls of a run: those that are also in messages, and the others, which are answers of their own.

    A message has the tokens of its call, or if it has none, its text.
    """

    def __init__(self, messages: list[dict[str, Any]], chat: ChatLog) -> None:
        self._chat = chat
        said = [message for message in messages if not is_logged_call(message)]
        self._to_come = Counter(key for each in said if (key := _key_of(each)) is not None)
        self._found: defaultdict[_Key, deque[Facts]] = defaultdict(deque)
        self._calls = {
            id_of(call.get("id")) for each in said for call in objects_of(each.get("content"))
        }
        self.tools: dict[str, Any] = {}
        self.unread = 0  #: how many cannot be read

    def add(self, message: dict[str, Any]) -> None:
        """Add a logged call."""
        try:
            call = json_in(message["content"])
        except ValueError:
            call = None
        if type(call) is not dict:
            self.unread += 1
            return
        for tool in objects_of(call.get("tools")):
            held = object_of(tool.get("function")) or tool
            self.tools.setdefault(str(held.get("name")), tool)
        response = object_of(call.get("response"))
        choices = objects_of(response.get("choices"))
        answer = object_of(choices[0].get("message")) if choices else {}
        text = string_of(answer.get("content"))
        usage = counted(read_usage({name: count_of(call.get(name)) for name in _TOKENS}))
        time = time_of(message.get("created_at"))
        facts = Facts(model=string_of(response.get("model")), usage=usage, ended_at=time)
        for key in (_tokens(call), text):
            if key is not None and self._to_come[key] > 0:
                self._to_come[key] -= 1
                self._found[key].append(facts)
                return
        calls = [
            each for each in calls_of({**answer, "content": None}) if each.id not in self._calls
        ]
        self._chat.answer(text, calls, facts, name=string_of(call.get("agent_id")))

    def facts_of(self, message: dict[str, Any]) -> Facts:
        """Return what the log has of the call that a message is the result of, if it was logged before."""
        key = _key_of(message)
        found = self._found.get(key) if key is not None else None
        return found.popleft() if found else NO_FACTS


def _key_of(message: dict[str, Any]) -> _Key | None:
    """Return what tells the call that a message is the result of."""
    used = message.get("models_usage")
    return _tokens(used) if type(used) is dict else string_of(message.get("content"))


def _tokens(used: dict[str, Any]) -> _Tokens:
    sent, received = (count_of(used.get(name)) for name in _TOKENS)
    return sent, received
