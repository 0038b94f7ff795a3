"""LangGraph's checkpoints in SQLite: the state of a thread after each step, packed as MessagePack or written as JSON.

What nodes have written is in the state of the next checkpoint, unless the run broke off, or waits, before that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.traces.fields import id_of, json_in, object_of
from weighbridge.traces.formats.langgraph_parts import (
    ALL_COPIED,
    COPIED,
    OWN_CHANNELS,
    REPEATED,
    has_messages,
    has_unread,
    message_lists,
    shows_that_a_node_ran,
)
from weighbridge_producer.input.files.databases.langgraph_packing import (
    CHANNELS,
    JSON,
    unpacked,
    unpacked_checkpoint,
)
from weighbridge_producer.input.files.databases.row_readers import RowReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.traces.formats.langgraph_parts import Part
    from weighbridge_producer.input.files.databases.sqlite_rows import Row

STATE = "state"  #: the column of a row with its checkpoint as JSON, empty if that has no messages
_TYPE, _CHECKPOINT = "type", "checkpoint"
_SPACE, _ID, _PARENT = "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id"
_CHANNEL, _VALUE, _TASK = "channel", "value", "task_id"
_ERROR = "__error__"  #: the channel of a node that failed
_METADATA = "metadata"
#: A part of the ids that LangChain gives to messages, by which a copy is told from a message that is equal by chance.
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class ThreadReader(RowReader):
    """Reader of threads, each of which may begin with copies of another one's messages."""

    other_form = "its messages have a form that is not read"

    def __init__(self) -> None:
        #: the hash of each message of the threads before, by its id
        self._messages: dict[str, int] = {}

    def readings(self) -> Iterator[Callable[[Row], Row | None]]:
        """Yield how to read the rows of a thread; one of nothing but copies is read again, as it is."""
        checkpoints = Checkpoints(self._messages)
        yield checkpoints.as_text
        if checkpoints.copied:
            checkpoints = Checkpoints({}, checkpoints.copied)
            yield checkpoints.as_text
        checkpoints.close(self._messages)

    def value(self, rows: list[Row]) -> Any:
        """Return the states of a thread, and what its nodes have written."""
        return [json_in(row[STATE]) for row in rows]


class Checkpoints:
    """The checkpoints of one thread, of which each message is kept once.

    Of the checkpoints without new messages, only the first that shows that a node has run is kept, as the result of a task
    without messages. A thread may begin with copies of another one's messages; those are left out, and counted, unless the
    thread has nothing else. A later message that another thread has may also come from a cache.
    """

    def __init__(self, known_to_others: dict[str, int], copied: int = 0) -> None:
        #: the hash of each message of the threads before, by its id
        self._known_to_others = known_to_others
        self._known: dict[str, int] = {}  #: the same of this thread's messages
        self._counts = {COPIED: 0, ALL_COPIED: copied}  #: since the last row that is kept
        #: ids of later messages that others have, since then as well
        self._repeated: list[str] = []
        self._copies = 0  #: number of messages that are left out
        self._has_own = False  #: whether a message with an id is no copy
        self._followed: set[tuple[Any, Any]] = set()  #: the checkpoints that others come after
        self._last: dict[Any, dict[str, Any]] = {}  #: the last state, by subgraph
        self._has_messages = False  #: whether any checkpoint has, without the copies
        self._has_run = False  #: whether what is kept shows that a node has run

    def as_text(self, row: Row) -> Row | None:
        """Return a row with its checkpoint, or what a node has written, as JSON; None if it is damaged, or packed in another way."""
        if _CHANNEL in row:
            return self._written(row)
        self._followed.add((row.get(_SPACE), row.get(_PARENT)))
        try:
            checkpoint = unpacked_checkpoint(row.get(_TYPE, JSON), row.get(_CHECKPOINT))
            self._last[row.get(_SPACE)] = checkpoint[CHANNELS]
            state = {name: self._new(name, held) for name, held in checkpoint[CHANNELS].items()}
            told = {
                "checkpoint": {"ts": checkpoint.get("ts"), CHANNELS: state},
                "config": {"configurable": {"thread_id": row.get("thread_id")}},
            }
            if not self._has_run and (step := _step_of(row.get(_METADATA))) is not None:
                told[_METADATA] = {"step": step}
            return self._kept(("checkpoints", told), str(row.get(_ID)))
        except (ValueError, TypeError, RecursionError):
            return None

    def _written(self, row: Row) -> Row | None:
        """Return what a node has written as the result of its task, if no later checkpoint has it."""
        channel, kind = str(row[_CHANNEL]), row.get(_TYPE)
        is_followed = (row.get(_SPACE), row.get(_ID)) in self._followed
        name = str(row.get(_TASK))
        if channel == _ERROR and self._has_messages:
            return {STATE: orjson.dumps({**_task(name), "error": True}).decode()}
        if is_followed or kind in {None, "null", "empty"} or channel.startswith(OWN_CHANNELS):
            return {STATE: ""}
        try:
            before = self._last.get(row.get(_SPACE), {}).get(channel)
            held = _added(unpacked(kind, row.get(_VALUE)), before, name)
            return self._kept(("tasks", _task(name, [channel, self._new(channel, held)])), name)
        except (ValueError, TypeError, RecursionError):
            return None

    @property
    def copied(self) -> int:
        """The number of messages, if all of them are copies."""
        return 0 if self._has_messages else self._copies

    def close(self, known_to_others: dict[str, int]) -> None:
        """End the thread, and add its messages to those known to the threads after it."""
        known_to_others |= {name: mark for name, mark in self._known.items() if _UUID.search(name)}

    def _kept(self, part: Part, task_name: str) -> Row:
        """Return a row with what is kept of a part: all if it has messages, and an empty text if it tells nothing new.

        Without messages, the first part that shows that a node has run becomes a task of the name.
        """
        shows_run, may_have_messages = shows_that_a_node_ran(part), _may_have_messages(part)
        if may_have_messages:
            part[1].update({name: count for name, count in self._counts.items() if count})
            if self._repeated:
                part[1][REPEATED] = self._repeated
            self._counts, self._repeated = dict.fromkeys(self._counts, 0), []
        text = orjson.dumps(part[1], _none, orjson.OPT_NON_STR_KEYS).decode()
        if not may_have_messages:
            if self._has_run or not (shows_run and self._has_messages):
                return {STATE: ""}
            text = orjson.dumps(_task(task_name)).decode()
        self._has_messages = True
        self._has_run = self._has_run or shows_run
        return {STATE: text}

    def _new(self, channel: str, held: Any) -> Any:
        """Return what a channel holds; of a list of messages that all have ids, those of this thread that are new or have changed."""
        if type(held) is not list or not all(map(_id_of, held)):
            return held
        changed: list[tuple[str, int, Any]] = []
        for item in held:
            name, mark = str(_id_of(item)), hash(orjson.dumps(item, _none, orjson.OPT_NON_STR_KEYS))
            if self._known.get(name) != mark:
                self._known[name] = mark
                changed.append((name, mark, item))
        if message_lists({channel: [item for _, _, item in changed]}):
            changed = [each for each in changed if not self._is_copy(*each)]
        return [item for _, _, item in changed]

    def _is_copy(self, name: str, mark: int, message: Any) -> bool:
        """Return whether a message is a copy with which the thread begins; note a later one that others have."""
        if not self._has_own and self._known_to_others.get(name) == mark:
            self._copies += 1
            self._counts[COPIED] += 1
            return True
        self._has_own = True
        if name in self._known_to_others:
            self._repeated.append(_of_call(message) or name)
        return False


def _task(name: str, *written: Any) -> dict[str, Any]:
    """Return a task with what it has written, by channel."""
    return {"id": name, "name": name, "result": list(written), "interrupts": []}


def _step_of(metadata: Any) -> int | None:
    """Return the number of the step in a checkpoint's metadata; None if that cannot be read."""
    if type(metadata) not in {str, bytes}:
        return None
    try:
        step = object_of(json_in(metadata)).get("step")
    except ValueError:
        return None
    return step if type(step) is int else None


def _id_of(message: Any) -> str | None:
    """Return the id of a message, which LangChain's JSON of an object has among what the object is made of."""
    held = object_of(message)
    return id_of((object_of(held.get("kwargs")) if "lc" in held else held).get("id"))


def _of_call(message: Any) -> str | None:
    """Return the id of the call that a message answers."""
    held = object_of(message)
    return id_of((object_of(held.get("kwargs")) if "lc" in held else held).get("tool_call_id"))


def _may_have_messages(part: Part) -> bool:
    """Return whether a part has messages, or what seems to be messages in a form that is not read."""
    return has_messages(part) or has_unread(part)


def _added(written: Any, before: Any, task: str) -> Any:
    """Return what a node has written; plain messages without those of the state before, and with ids by which they count."""
    listed = [written] if type(written) is dict and "role" in written else written
    if type(listed) is not list or not all("role" in object_of(each) for each in listed):
        return written
    known = len(before) if type(before) is list and listed[: len(before)] == before else 0
    return [
        {"content": None, "id": f"{task}:{number}", **message}
        for number, message in enumerate(listed[known:])
    ]


def _none(_: object) -> None:
    """Return what stands in JSON for a value that has no form in it."""
