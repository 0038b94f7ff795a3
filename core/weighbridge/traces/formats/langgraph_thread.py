"""A thread of LangGraph: its messages, each once, from the parts of a stream or from its states."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.chat.call_parts import CALL_FIELDS
from weighbridge.traces.chat.chunked_messages import is_chunk, whole_messages
from weighbridge.traces.fields import (
    Notes,
    count_of,
    id_of,
    object_of,
    objects_of,
    string_of,
    text_of,
)
from weighbridge.traces.formats import langchain
from weighbridge.traces.formats.langgraph_parts import (
    ALL_COPIED,
    COPIED,
    REPEATED,
    STATES,
    Part,
    has_unread_lists,
    message_lists,
    shows_that_a_node_ran,
    states_in,
    streamed_in,
)

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Step, StepType, Trace

_UNREAD_MESSAGE = "a message of an unknown kind has tool calls"
_UNREAD_LIST = "a state has messages in a form, or in a place, that is not read"
_REPLACED = "messages without ids were replaced by others"
_UNANSWERED = (
    "no message is an answer of a model: what nodes called may stand elsewhere in the state"
)
_FAILED = "no message is an answer of a model: whether the node that failed called one is not known"
#: What is not known if messages for steps of a type may be another thread's.
_MAY_BE_REPEATED: dict[StepType, dict[Capability, str]] = {
    "llm": dict.fromkeys(
        ("llm_calls", "token_usage", "cost"),
        "an answer has the id of one in another thread: whether a model was called again is not known",
    ),
    "tool": {
        "tool_calls": "a result has the id of one in another thread: whether the tool was called again is not known"
    },
}
UNREAD_ITEM = "the stream has items of an unknown kind, which may have tool calls"

_Key = tuple[str, Any]
"""Key of a message: its ID, the call that it answers, or its position."""


def thread_of(part: Part) -> str | None:
    """Return the ID of the thread of a checkpoint or a streamed message."""
    mode, held = part
    record = object_of(held)
    record = object_of(record.get("payload")) if mode == "debug" else record
    config = object_of(object_of(record.get("config")).get("configurable"))
    places = [config, object_of(record.get("checkpoint")), object_of(record.get("metadata"))]
    if mode == "messages":
        places = [object_of(each) for each in held[1:2]] if type(held) is list else []
    elif mode not in {"checkpoints", "debug"}:
        return None
    return next((name for each in places if (name := id_of(each.get("thread_id")))), None)


def field_of(message: Any, name: str) -> str | None:
    """Return the text in a message's field, in any of LangChain's forms; None if it is not a text."""
    fields = langchain.fields_of(message) if type(message) is dict else None
    return string_of((fields or {}).get(name))


class Thread:
    """The messages of a thread with their pieces, in the order of arrival."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.notes = Notes()
        self.unread: str | None = None  #: reason why calls may be missing
        self.lost: str | None = None  #: reason why answers may be missing
        self._found: dict[_Key, list[Any]] = {}
        self._asked: dict[str, set[_Key]] = {}  #: keys of the answers with a call, by call ID
        self._stated: set[_Key] = set()  #: keys of messages that a state or a node's result has
        self._whole: set[_Key] = set()  #: contents of messages that a state has with IDs
        self._streamed: set[_Key] = set()
        self._state: dict[str, Any] = {}  #: the last state
        self._failed: set[str] = set()
        self._states = 0  #: number of states that were streamed
        self._has_run = False  #: whether a node has run
        #: ids of answers and calls of which another thread has the message
        self._repeated: set[str] = set()

    def take(self, part: Part) -> None:
        """Add the messages of a part of a stream."""
        mode, held = part
        self.id = self.id or thread_of(part)
        self._states += mode == "values"
        self._has_run = self._has_run or self._states > 1 or shows_that_a_node_ran(part)
        if mode in {"messages", "partial"}:
            for message in streamed_in(held):
                self._take_streamed(message, is_piece=mode == "messages")
        elif mode in STATES:
            self._note_copies(mode, held)
            is_whole = mode in {"values", "checkpoints"}
            for state in states_in(mode, held):
                self._take_state(state, is_whole=is_whole)
            self._note_failures(held)
        elif mode != "metadata":
            self.notes.add(f"parts of mode {mode!r}")

    def _note_copies(self, mode: str, held: Any) -> None:
        """Note what is known of a part that was read from a database about messages that another thread has as well."""
        if mode not in {"checkpoints", "tasks"}:
            return
        part = object_of(held)
        if copied := count_of(part.get(COPIED)):
            self.notes.add("messages copied from another thread", copied)
        if copied := count_of(part.get(ALL_COPIED)):
            self.notes.add(
                "messages that are all copied from another thread: all of them count", copied
            )
        repeated = part.get(REPEATED)
        self._repeated.update(
            filter(None, map(string_of, repeated if type(repeated) is list else ()))
        )

    def _take_streamed(self, message: dict[str, Any], *, is_piece: bool) -> None:
        key = self._key(message, ("new", len(self._found)), self._asked)
        self._streamed.add(key)
        if key in self._stated:
            return
        pieces = self._found.setdefault(key, [])
        if not is_piece or not is_chunk(message):
            pieces.clear()
        pieces.append(message)

    def _take_state(self, state: Any, *, is_whole: bool) -> None:
        if is_whole and type(state) is dict and state:
            self._state = state
        if has_unread_lists(state):
            self.unread = self.lost = _UNREAD_LIST
        for number, listed in enumerate(message_lists(state)):
            asked = {} if is_whole else self._asked
            for index, message in enumerate(listed):
                if langchain.role_of(message) is None:
                    self.notes.add("messages of another kind")
                    if not CALL_FIELDS.isdisjoint(object_of(message)):
                        self.unread = _UNREAD_MESSAGE
                    continue
                position = ("at", (number, index)) if is_whole else ("new", len(self._found))
                key = self._key(message, position, asked)
                before = self._found.get(key) if key[0] == "at" else None
                if before and _is_other(before[-1], message):
                    self.unread = self.lost = _REPLACED
                self._found[key] = [message]
                self._stated.add(key)
                if is_whole and key[0] == "id":
                    self._whole.add(_content(message))

    def _key(self, message: Any, position: _Key, asked: dict[str, set[_Key]]) -> _Key:
        """Return the key of a message; a model may give a later call the ID of an earlier one."""
        own, call = field_of(message, "id"), field_of(message, "tool_call_id")
        if not own and call:
            return "call", (call, len(asked.get(call, ())))
        key = ("id", own) if own else position
        for call_id in _calls([message]):
            for known in (asked, self._asked):
                known.setdefault(call_id, set()).add(key)
        return key

    def _note_failures(self, held: Any) -> None:
        record = object_of(held)
        record = object_of(record.get("payload")) or record
        for task in (record, *objects_of(record.get("tasks"))):
            if task.get("error") and (name := id_of(task.get("id"))) and name not in self._failed:
                self._failed.add(name)
                self.notes.add("errors of nodes")

    def messages(self) -> list[Any]:
        """Return the messages without repeats that have no ID, or that were streamed with another ID than in a state."""
        answered = Counter(
            field_of(held[0], "tool_call_id")
            for (kind, _), held in self._found.items()
            if kind == "id"
        )
        has_positions = any(kind == "at" for kind, _ in self._found)
        # A provider may give a whole answer another ID than the pieces before it.
        calls: set[str] = set()
        texts: set[str] = set()
        kept: list[list[Any]] = []
        for key, held in reversed(self._found.items()):
            whole = list(whole_messages(held, langchain.fields_of))
            own_calls, text = _calls(whole), _text(whole)
            if key not in self._stated and (text in texts or not calls.isdisjoint(own_calls)):
                continue
            if key in self._stated and key not in self._streamed:
                calls |= own_calls
                texts |= {text} if text else set()
            kind, name = key
            is_answered = kind == "call" and name[1] <= answered[name[0]] > 0
            is_new = kind == "new" and (has_positions or _content(held[0]) in self._whole)
            if not (is_answered or is_new):
                kept.append(whole)
        return [message for whole in reversed(kept) for message in whole]

    def trace(self) -> Trace:
        """Return the thread as a trace."""
        about = {name: held for name, held in self._state.items() if not langchain.is_list(held)}
        [trace] = langchain.IMPORTER.read({**about, "messages": self.messages()})
        not_carried = (*trace.not_carried, *self.notes.summaries())
        missing: dict[Capability, str] = {"tool_calls": self.unread} if self.unread else {}
        if self.lost:
            missing["llm_calls"] = self.lost
        if not trace.steps_of("llm") and (self._has_run or self._failed):
            reason = _FAILED if self._failed else _UNANSWERED
            missing = {"llm_calls": reason, "tool_calls": reason, **missing}
        for kind in {step.type for step in trace.steps if self._may_be_repeated(step)}:
            missing |= _MAY_BE_REPEATED[kind]
        return replace(
            trace,
            id=self.id,
            format="langgraph",
            steps=tuple(map(self._certain, trace.steps)),
            missing={**trace.missing, **missing},
            not_carried=not_carried,
        )

    def _may_be_repeated(self, step: Step) -> bool:
        """Return whether another thread has the message of an answer or a result, so that it may come from a cache."""
        return step.type in _MAY_BE_REPEATED and step.id in self._repeated

    def _certain(self, step: Step) -> Step:
        """Return a step; one that may be repeated is no call for certain."""
        if not self._may_be_repeated(step):
            return step
        return structs.replace(step, type="other", usage=None, cost_usd=None)


def _is_other(before: Any, after: Any) -> bool:
    """Return whether a message in the place of another is not the same one; calls may have no ids."""
    calls = [object_of(each).get("tool_calls") for each in (before, after)]
    return _content(before) != _content(after) or (not _calls([after]) and calls[0] != calls[1])


def _content(message: Any) -> _Key:
    """Return the role of a message, its text and the ids of its calls."""
    text = text_of((langchain.fields_of(message) or message).get("content"))
    return langchain.role_of(message) or "", (text, frozenset(_calls([message])))


def _calls(pieces: list[Any]) -> set[str]:
    return {
        call_id
        for piece in pieces
        for call in objects_of((langchain.fields_of(piece) or piece).get("tool_calls"))
        if (call_id := string_of(call.get("id")))
    }


def _text(pieces: list[Any]) -> str | None:
    fields = langchain.fields_of(pieces[0]) if len(pieces) == 1 else None
    return (
        text_of((fields or {}).get("content"))
        if langchain.role_of(pieces[0]) == "assistant"
        else None
    )
