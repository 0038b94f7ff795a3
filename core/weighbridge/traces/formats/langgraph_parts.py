"""Parts of the streams of LangGraph graphs, in the forms of its library, its server and its clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import object_of, word_of
from weighbridge.traces.formats import langchain

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Names of the parts of a stream; `/` and the kind of messages, or `|` and the subgraph may follow.
STATES = frozenset({"values", "updates", "messages", "debug", "tasks", "checkpoints"})
_OTHERS = frozenset({"custom", "metadata", "error", "end", "lifecycle", "tools"})
_DEBUG = {"checkpoint": "checkpoints", "task": "tasks", "task_result": "tasks"}
_BESIDE_VALUES = ("tasks", "checkpoint", "config", "metadata", "parent_config")
#: Names of objects around states, which are not nodes.
_WRAPPERS = frozenset(
    {
        *("input", "inputs", "output", "outputs", "values", "state", "data", "result"),
        *("record", "trace", "trajectory", "conversation", "messages", "loglines"),
    }
)
_LOOKED_AT = 20  #: number of messages by whose role the format is recognised
#: How the names of channels begin that hold no state, but what is to run next.
OWN_CHANNELS = ("__", "branch:", "start:")
_START = "__start__"  #: name of the node that writes a run's input
_MARKS = frozenset({"__interrupt__", "__metadata__"})  #: keys beside the nodes of an update
#: modes of which a list of plain messages is enough
_OF_STORE = frozenset({"checkpoints", "tasks"})
_SPOKEN = frozenset({"content", "parts", "tool_calls"})  #: fields of which a plain message has one
#: Keys of a checkpoint or task from a database: the number of messages before it that were left out as copies of another
#: thread's.
COPIED = "copied_messages"
#: The number of a thread's messages if all are copies, and were not left out.
ALL_COPIED = "all_copied_messages"
#: The ids of answers, and the call ids of results, that another thread had first, behind messages of the thread's own.
REPEATED = "repeated_messages"
_OF_RUN = ("langgraph_node", "langgraph_step", "langgraph_checkpoint_ns")

Part = tuple[str, Any]
"""The mode of a stream, and what it streamed; a state or a checkpoint alone is as it is streamed."""


def part_of(item: Any) -> Part | None:
    """Return a part of a stream from any form of clients and servers; None for any other value."""
    if type(item) is list:
        return _listed_part(item)
    if type(item) is not dict:
        return None
    space = item.get("ns")
    name = item.get("type") if type(space) is list else item.get("event")
    if type(name) is str and "data" in item:
        return _of_graph(_named(name, item["data"]), is_inner=bool(space))
    if type(item.get("payload")) is dict and "step" in item and word_of(item.get("type")) in _DEBUG:
        return "debug", item
    if _is_checkpoint(item):
        return "checkpoints", item
    if _is_task(item):
        return "tasks", item
    messages = item.get("messages")
    if _said(messages[:_LOOKED_AT] if type(messages) is list else messages, is_any=True):
        return "values", item
    return ("updates", item) if _is_update(item) else None


def _of_graph(part: Part | None, *, is_inner: bool) -> Part | None:
    """Return a part of a graph's stream; a subgraph's state is read as the result of a node."""
    return ("updates", {"": part[1]}) if part and is_inner and part[0] == "values" else part


def _named(name: str, held: Any) -> Part | None:
    name, _, space = name.partition("|")
    mode, _, kind = name.partition("/")
    if mode == "messages" and kind:  # the server's form: each part repeats the pieces before it
        return ("partial", held) if type(held) is list else ("metadata", held)
    is_known = mode in STATES or mode in _OTHERS
    return _of_graph((mode, held), is_inner=bool(space)) if is_known else None


def _listed_part(item: list[Any]) -> Part | None:
    if item and type(item[0]) is list and all(type(name) is str for name in item[0]):
        space, *item = item  # the subgraph comes first
        held = item[0] if len(item) == 1 else item
        part = _pair(held) if type(held) is list else part_of(held)
        return _of_graph(part, is_inner=bool(space))
    return _pair(item)


def _pair(item: list[Any]) -> Part | None:
    """Return a part from a list of its mode, its data and perhaps an ID, or of a message and its metadata."""
    if len(item) not in {2, 3}:
        return None
    if type(item[0]) is str:
        return _named(item[0], item[1])
    is_message = type(item[1]) is dict and any(key in item[1] for key in _OF_RUN)
    return ("messages", item) if is_message and langchain.role_of(item[0]) else None


def _is_checkpoint(item: dict[str, Any]) -> bool:
    held = object_of(item.get("checkpoint"))
    if "channel_values" in item or "channel_values" in held:
        return True
    return type(item.get("next")) is list and any(key in item for key in _BESIDE_VALUES)


def _is_task(item: dict[str, Any]) -> bool:
    if type(item.get("id")) is not str or type(item.get("name")) is not str:
        return False
    return ("input" in item and "triggers" in item) or ("result" in item and "interrupts" in item)


def _is_update(item: dict[str, Any]) -> bool:
    """Return whether an object may have the results of nodes, by node name."""
    results = [held for name, held in item.items() if name not in _MARKS]
    return _WRAPPERS.isdisjoint(item) and all(
        held is None or type(held) in {dict, list} for held in results
    )


def message_lists(state: Any) -> list[list[Any]]:
    """Return the lists of messages in a state, in a node's result, or in a list of these."""
    said = _said(state)
    if said:
        return [said]
    # A node's result may be pairs of a channel and the value written to it.
    several = state if type(state) is list else [state]
    states = [dict([held]) if _is_write(held) else held for held in several]
    fields = [field for each in states if type(each) is dict for field in each.items()]
    return [said for name, field in fields if (said := _said(field, is_any=name == "messages"))]


def _said(listed: Any, *, is_any: bool = False) -> list[Any]:
    """Return a message, or the messages in a list, without marks that remove earlier ones; empty for any other value.

    They are LangChain's messages. With `is_any`, one known role is enough: a node may return messages in another form, which
    only the state has as LangChain's.
    """
    if type(listed) is dict and "content" in (langchain.fields_of(listed) or {}):
        listed = [listed]
    if type(listed) is not list:
        return []
    said = [item for item in listed if not _is_removal(item)]
    is_known = is_any and any(map(langchain.role_of, said[:_LOOKED_AT]))
    return said if is_known or langchain.is_list(said) else []


def _is_removal(item: Any) -> bool:
    if type(item) is not dict:
        return False
    path = item.get("id")
    kind = path[-1] if "lc" in item and type(path) is list and path else item.get("type")
    return word_of(kind) in {"remove", "RemoveMessage"}


def _is_write(held: Any) -> bool:
    return type(held) is list and len(held) == 2 and type(held[0]) is str


def _unwrapped(mode: str, held: Any) -> Part:
    """Return a part of a stream, or the one in a part for debugging."""
    if mode != "debug":
        return mode, held
    debug = object_of(held)
    return _DEBUG.get(word_of(debug.get("type")), ""), debug.get("payload")


def shows_that_a_node_ran(part: Part) -> bool:
    """Return whether a part of a stream shows that a node has run: its result, or a state that may have it.

    A checkpoint states how many steps came before; the first is the input.
    """
    mode, held = _unwrapped(*part)
    record = object_of(held)
    if mode in {"messages", "partial"}:
        return True
    if mode == "tasks":
        return "result" in record
    if mode == "updates":
        return any(name not in _MARKS and name != _START for name in record)
    step = object_of(record.get("metadata")).get("step") if mode == "checkpoints" else None
    if type(step) is int:
        return step > 0
    fields = (field for state in states_in(mode, held) for field in object_of(state).items())
    return any(
        held and not str(name).startswith(OWN_CHANNELS) and not _said(held, is_any=True)
        for name, held in fields
    )


def states_in(mode: str, held: Any) -> Iterator[Any]:
    """Yield the states and the results of nodes in a part of a stream."""
    mode, held = _unwrapped(mode, held)
    record = object_of(held)
    if mode == "values":
        yield held
    elif mode == "updates":
        yield from record.values()
    elif mode == "tasks":
        yield record.get("input")
        yield record.get("result")
    elif mode == "checkpoints":
        inner = object_of(record.get("checkpoint"))
        yield record.get("values", record.get("channel_values", inner.get("channel_values")))


def has_messages(part: Part) -> bool:
    """Return whether a part of a stream has any message."""
    mode, held = part
    if mode in {"messages", "partial"}:
        return bool(streamed_in(held))
    lists = (listed for state in states_in(mode, held) for listed in message_lists(state))
    return any(lists) if mode in _OF_STORE else any(map(langchain.is_list, lists))


def has_unread(part: Part) -> bool:
    """Return whether a state in a part of a stream seems to have messages that are not read."""
    return any(map(has_unread_lists, states_in(*part)))


def has_unread_lists(state: Any) -> bool:
    """Return whether a state seems to have messages in a form, or in a place, that is not read."""
    several = state if type(state) is list else [state]
    states = [dict([held]) if _is_write(held) else held for held in several]
    fields = [field for each in states if type(each) is dict for field in each.items()]
    return any(
        not _said(held, is_any=name == "messages")
        and any(_is_plain(item) or (name == "messages" and not _is_removal(item)) for item in held)
        for name, held in fields
        if type(held) is list
    )


def _is_plain(item: Any) -> bool:
    return type(item) is dict and type(item.get("role")) is str and not _SPOKEN.isdisjoint(item)


def streamed_in(held: Any) -> list[Any]:
    """Return the messages in streamed data: one message with its metadata, or a list of messages."""
    if type(held) is not list:
        return []
    is_pair = len(held) > 1 and langchain.role_of(held[1]) is None
    return [item for item in (held[:1] if is_pair else held) if langchain.role_of(item)]
