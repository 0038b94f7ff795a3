"""LangGraph: states and checkpoints of a thread, and streams of a graph's run (`stream_mode`), also from its server.

States and streams repeat messages. Each message counts once, by its ID, or by the call of a tool's message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import object_of
from weighbridge.traces.formats import langchain
from weighbridge.traces.formats.langgraph_parts import (
    STATES,
    Part,
    has_messages,
    message_lists,
    part_of,
    states_in,
)
from weighbridge.traces.formats.langgraph_thread import UNREAD_ITEM, Thread, field_of, thread_of
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace

_START = "__start__"  #: name of the node that writes a run's input
_LOOKED_AT = 20  #: number of items by which the format is recognised


def _items(value: Any) -> list[Any]:
    return value if type(value) is list else [value]


def _matches(value: Any) -> bool:
    items = _items(value)[:_LOOKED_AT]
    parts: list[Part] = []
    for item in items:
        part = part_of(item)
        if part is None:
            return False
        parts.append(part)
    if len(parts) == 1 and parts[0][0] == "values" and parts[0][1] is items[0]:
        return False  # a state alone is a chat like any other
    if not any(map(has_messages, parts)):
        return False
    if all(held is item for (_, held), item in zip(parts, items, strict=True)):
        if all(mode == "values" for mode, _ in parts):
            return _share_messages(parts) and not _are_outcomes(parts)
        if len(parts) > 1 and all(mode == "updates" and _is_run(held) for mode, held in parts):
            return _share_messages(parts)
    return type(value) is list or parts[0][0] != "updates"


def _share_messages(parts: list[Part]) -> bool:
    """Return whether several parts share a message; otherwise they may be of different runs."""
    ids = [own for part in parts for own in set(_ids(part))]
    return len(ids) > len(set(ids))


def _are_outcomes(parts: list[Part]) -> bool:
    """Return whether states are final states of different runs, which may begin with the same messages."""
    ends = [_lists(part)[0][-1] for part in parts if _lists(part)]
    if any(langchain.role_of(end) != "assistant" for end in ends):
        return False
    after = zip(ends, parts[1:], strict=False)
    return not any(field_of(end, "id") in _ids(part) for end, part in after)


def _is_run(update: Any) -> bool:
    """Return whether a seeming update has a whole conversation, as the records of other programs do."""
    lists = [listed for held in update.values() for listed in message_lists(held)]
    return any(langchain.role_of(listed[0]) in {"user", "system"} for listed in lists)


def _lists(part: Part) -> list[list[Any]]:
    return [listed for state in states_in(*part) for listed in message_lists(state)]


def _is_line(value: Any) -> bool:
    """Return whether a value is a line of a stream; a bare state is one if it has no answer of a model.

    A record of another program may look like an update, but has a whole conversation.
    """
    part = part_of(value)
    if part is None:
        return False
    if _opens_stream(value, part):
        return True
    if not has_messages(part):
        return False
    if part[0] == "updates" and part[1] is value:
        return _START in value or not _is_run(value)
    if part[0] != "values" or part[1] is not value:
        return True
    spoken = [langchain.role_of(message) for message in value["messages"]]
    return spoken == ["user"] and bool(_ids(part))


def _opens_stream(value: Any, part: Part) -> bool:
    """Return whether a value is certainly a part of a stream, even if it has no messages."""
    mode, held = part
    if mode == "metadata":
        return "run_id" in object_of(held)
    is_named = value[0] == mode or value[1] == mode if type(value) is list else "ns" in value
    return mode in {"debug", "checkpoints"} or (is_named and mode in STATES and type(held) is dict)


def _ids(part: Part) -> list[str]:
    """Return the IDs of the messages in a state, or in a node's result."""
    return [own for listed in _lists(part) for each in listed if (own := field_of(each, "id"))]


def _threads(parts: list[Part]) -> list[list[Part]]:
    """Return the parts by thread, identified by its ID; a state without messages of the one before is of another thread."""
    threads: list[list[Part]] = []
    names: list[str | None] = []
    by_name: dict[str, int] = {}
    by_message: dict[str, int] = {}
    last = 0
    for part in parts:
        name, ids = thread_of(part), _ids(part)
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


def _read(value: Any) -> list[Trace]:
    parts = [(item, part_of(item)) for item in _items(value)]
    unread = [item for item, part in parts if part is None]
    traces: list[Trace] = []
    for listed in _threads([part for _, part in parts if part is not None]):
        thread = Thread()
        if not traces and unread:
            thread.notes.add("items of another kind", len(unread))
            has_any = any(type(item) in {dict, list} for item in unread)
            thread.unread = UNREAD_ITEM if has_any else None
        for part in _oldest_first(listed):
            thread.take(part)
        if thread.messages():
            traces.append(thread.trace())
    return traces


def _oldest_first(parts: list[Part]) -> list[Part]:
    """Return checkpoints in the order of their steps: the history of a thread begins with the newest."""
    first, last = (
        object_of(object_of(held).get("metadata")).get("step") for _, held in (parts[0], parts[-1])
    )
    is_reversed = type(first) is int and type(last) is int and first > last
    return parts[::-1] if is_reversed else parts


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
