"""Conversion of chats with other names of roles than OpenAI's messages: `human` and `ai`, `customer` and `agent`."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.chat.roles import ROLES

#: Keys of a list that is a chat if each item is a message, and no question or answer outside the chat stands beside it.
#: `transcript` and `dialog` are left out: tables with such a column are mapped.
CHAT_KEYS = frozenset(
    {
        *("turns", "history", "chat_history", "conversation_history", "message_history"),
        "messages_history",
    }
)
CONTENTS = frozenset({"content", "tool_calls", "parts"})  #: fields, one of which every message has
_USERS = ("human", "customer", "client", "caller", "visitor", "end_user")
_AGENTS = (
    "model",
    "agent",
    "ai",
    "bot",
    "chatbot",
    "ai_assistant",
    "ai_agent",
    "virtual_agent",
    "llm",
)
_ROLE_OF = {
    **{role: role for role in ROLES if role != "model"},
    **dict.fromkeys(_USERS, "user"),
    **dict.fromkeys(_AGENTS, "assistant"),
}
ROLE_WORDS = frozenset(_ROLE_OF)  #: the roles of messages and the names for them
_ROLE_FIELDS = ("role", "speaker", "sender", "author")
_TEXT_FIELDS = ("text", "message", "utterance")


def with_known_roles(listed: Any) -> list[dict[str, Any]] | None:
    """Return the messages of a chat with OpenAI's roles and content.

    Return None if an item lacks a known role or a text, or if no message is the assistant's.
    """
    if type(listed) is not list or not listed or type(listed[0]) is not dict:
        return None
    field = next((name for name in _ROLE_FIELDS if type(listed[0].get(name)) is str), None)
    if field is None:
        return None
    messages = []
    for item in listed:
        message = _message(item, field) if type(item) is dict else None
        if message is None:
            return None
        messages.append(message)
    return messages if any(each["role"] == "assistant" for each in messages) else None


def _message(item: dict[str, Any], field: str) -> dict[str, Any] | None:
    word = item.get(field)
    role = _ROLE_OF.get(_plain(word)) if type(word) is str else None
    if role is None:
        return None
    rest = {name: held for name, held in item.items() if name != field}
    if not CONTENTS.isdisjoint(item):
        return {"role": role, **rest}
    text = next((name for name in _TEXT_FIELDS if type(item.get(name)) is str), None)
    if text is None:
        return None
    return {"role": role, "content": rest.pop(text), **rest}


def _plain(word: str) -> str:
    return word[:40].strip().lower().replace(" ", "_").replace("-", "_")
