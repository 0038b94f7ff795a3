"""LangGraph: states and checkpoints of a thread, and what a graph's run streams (`stream_mode`), also from its server.

States and streams repeat messages; each counts once, by its id, or by the call that a tool's message answers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
    STATES,
    Part,
    has_messages,
    message_lists,
    part_of,
    states_in,
    streamed_in,
)
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace

_LOOKED_AT = 20  #: items that decide whether a list is of them

_Key = tuple[str, Any]
"""What a message is known by: its id, the call that it answers, or its position."""


def _items(value: Any) -> list[Any]:
    return value if type(value) is list else [value]


def _matches(value: Any) -> bool:
    items = _items(value)[:_LOOKED_AT]
    parts = [part for item in items if (part := part_of(item)) is not None]
    if len(parts) < len(items) or not any(map(has_messages, parts)):
        return False
    if all(
        mode == "values" and held is item for (mode, held), item in zip(parts, items, strict=True)
    ):
        # Bare states may as well be of different runs, or one may be a whole trace.
        ids = [own for part in parts for own in set(_ids(part))]
        return len(ids) > len(set(ids))
    return type(value) is list or parts[0][0] != "updates"


def _is_line(value: Any) -> bool:
    """Return whether a value is a line of a stream: a bare state is, if no model has answered yet."""
    part = part_of(value)
    if part is None or not has_messages(part):
        return False
    if part[0] != "values" or part[1] is not value:
        return True
    spoken = [langchain.role_of(message) for message in value["messages"]]
    return spoken == ["user"] and bool(_ids(part))


def _thread_of(part: Part) -> str | None:
    """Return the id of the thread that a checkpoint, or a streamed message, is of."""
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


def _ids(part: Part) -> list[str]:
    """Return the ids of the messages in a state, or in what a node returned."""
    lists = [listed for state in states_in(*part) for listed in message_lists(state)]
    return [own for listed in lists for each in listed if (own := _field(each, "id"))]


def _field(message: Any, name: str) -> str | None:
    fields = langchain.fields_of(message) if type(message) is dict else None
    return string_of((fields or {}).get(name))


def _threads(parts: list[Part]) -> list[list[Part]]:
    """Return the parts of each thread, by its id; a state with none of the messages of another is of another thread."""
    threads: list[list[Part]] = []
    names: list[str | None] = []
    by_name: dict[str, int] = {}
    by_message: dict[str, int] = {}
    last = 0
    for part in parts:
        name, ids = _thread_of(part), _ids(part)
        known = by_name.get(name) if name else None
        if known is None:
            known = next((by_message[each] for each in ids if each in by_message), None)
        is_other = bool(ids and by_message) and (name is not None or part[0] == "values")
        if known is None and threads and not is_other:
            known = last
        if known is None or (name and names[known] not in {None, name}):
            known = len(threads)
            threads.append([])
            names.append(None)
        if name:
            names[known] = name
            by_name[name] = known
        by_message |= dict.fromkeys(ids, known)
        threads[known].append(part)
        last = known
    return threads


class _Thread:
    """The messages of a thread, each with its pieces, in the order in which they came."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.notes = Notes()
        self._found: dict[_Key, list[Any]] = {}
        self._stated: set[_Key] = set()  #: of messages that a state or a node's result has
        self._streamed: set[_Key] = set()
        self._state: dict[str, Any] = {}  #: the last one
        self._failed: set[str] = set()

    def take(self, part: Part) -> None:
        """Add what a part of a stream has."""
        mode, held = part
        self.id = self.id or _thread_of(part)
        if mode in {"messages", "partial"}:
            for message in streamed_in(held):
                self._takestreamed_in(message, is_piece=mode == "messages")
        elif mode in STATES:
            is_whole = mode in {"values", "checkpoints"}
            for state in states_in(mode, held):
                self._take_state(state, is_whole=is_whole)
            self._note_failures(held)
        elif mode != "metadata":
            self.notes.add(f"parts of mode {mode!r}")

    def _takestreamed_in(self, message: dict[str, Any], *, is_piece: bool) -> None:
        key = self._key(message, ("new", len(self._found)))
        self._streamed.add(key)
        if key in self._stated:
            return
        pieces = self._found.setdefault(key, [])
        if not is_piece or not is_chunk(message):
            pieces.clear()
        pieces.append(message)

    def _take_state(self, state: Any, *, is_whole: bool) -> None:
        if is_whole and type(state) is dict:
            self._state = state
        for number, listed in enumerate(message_lists(state)):
            for index, message in enumerate(listed):
                if langchain.role_of(message) is None:
                    self.notes.add("messages of another kind")
                    continue
                position = ("at", (number, index)) if is_whole else ("new", len(self._found))
                key = self._key(message, position)
                self._found[key] = [message]
                self._stated.add(key)

    def _key(self, message: dict[str, Any], position: _Key) -> _Key:
        own, call = _field(message, "id"), _field(message, "tool_call_id")
        return ("id", own) if own else ("call", call) if call else position

    def _note_failures(self, held: Any) -> None:
        record = object_of(held)
        record = object_of(record.get("payload")) or record
        for task in (record, *objects_of(record.get("tasks"))):
            if task.get("error") and (name := id_of(task.get("id"))) and name not in self._failed:
                self._failed.add(name)
                self.notes.add("errors of nodes")

    def messages(self) -> list[Any]:
        """Return the messages, without the repeats that have no id, and streamed ones that a state has under another."""
        answered = {
            _field(held[0], "tool_call_id")
            for (kind, _), held in self._found.items()
            if kind == "id"
        }
        has_positions = any(kind == "at" for kind, _ in self._found)
        # A provider may give a whole answer another id than its pieces.
        unstreamed = [self._found[key] for key in self._stated - self._streamed]
        calls = {call for held in unstreamed for call in _calls(held)}
        texts = {_text(held) for held in unstreamed} - {None}
        kept: list[Any] = []
        for (kind, name), held in self._found.items():
            if (kind == "call" and name in answered) or (kind == "new" and has_positions):
                continue
            whole = list(whole_messages(held, langchain.fields_of))
            is_repeat = not calls.isdisjoint(_calls(whole)) or _text(whole) in texts
            if (kind, name) in self._stated or not is_repeat:
                kept += whole
        return kept

    def trace(self) -> Trace:
        """Return the thread as a trace."""
        about = {name: held for name, held in self._state.items() if not langchain.is_list(held)}
        [trace] = langchain.IMPORTER.read({**about, "messages": self.messages()})
        not_carried = (*trace.not_carried, *self.notes.summaries())
        return replace(trace, id=self.id, format="langgraph", not_carried=not_carried)


def _calls(pieces: list[Any]) -> set[str]:
    return {
        call_id
        for piece in pieces
        for call in objects_of((langchain.fields_of(piece) or {}).get("tool_calls"))
        if (call_id := string_of(call.get("id")))
    }


def _text(pieces: list[Any]) -> str | None:
    fields = langchain.fields_of(pieces[0]) if len(pieces) == 1 else None
    return (
        text_of((fields or {}).get("content"))
        if langchain.role_of(pieces[0]) == "assistant"
        else None
    )


def _read(value: Any) -> list[Trace]:
    parts = [part for item in _items(value) if (part := part_of(item)) is not None]
    traces = []
    for listed in _threads(parts):
        thread = _Thread()
        for part in _oldest_first(listed):
            thread.take(part)
        if thread.messages():
            traces.append(thread.trace())
    unread = len(_items(value)) - len(parts)
    if traces and unread:
        traces[0] = replace(
            traces[0], not_carried=(*traces[0].not_carried, f"items of another kind ({unread:,})")
        )
    return traces


def _oldest_first(parts: list[Part]) -> list[Part]:
    """Return checkpoints in the order of their steps: the history of a thread begins with the newest."""
    first, last = (count_of(_metadata(part).get("step")) for part in (parts[0], parts[-1]))
    is_reversed = first is not None and first > (last or 0)
    return parts[::-1] if is_reversed else parts


def _metadata(part: Part) -> dict[str, Any]:
    return object_of(object_of(part[1]).get("metadata"))


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the items of each thread."""
    items = [(item, part) for item in _items(value) if (part := part_of(item)) is not None]
    threads = _threads([part for _, part in items])
    if len(threads) < 2:
        return [(None, value)]
    item_of = {id(part): item for item, part in items}
    return [(None, [item_of[id(part)] for part in thread]) for thread in threads]


IMPORTER = Importer(
    id="langgraph",
    name="LangGraph states and streams",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_line,
    fields=(
        (
            "id of the trace",
            "thread_id of the config, the checkpoint, or the metadata beside a state or a message",
        ),
        ("steps", "values.messages, or messages of what nodes returned, as LangChain messages"),
        *langchain.IMPORTER.fields[1:],
    ),
    tried_on="states, checkpoints and streams of LangGraph 1.2 with a made-up model, in each mode; synthetic streams of its server",
    lacks="times, cost, and tool definitions, unless they are stored in the state; model calls that no message of a state records",
)
