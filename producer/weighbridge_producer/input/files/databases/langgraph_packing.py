"""Values in LangGraph's databases, packed as MessagePack or written as JSON.

Of an object of a class, its serializer packs the module, the name, what the object is made of, and how: as in JSON, only that
content is kept. Pickled objects are not read.
"""

from __future__ import annotations

from typing import Any

import msgspec

from weighbridge.settings import MIB
from weighbridge.traces.fields import json_in, object_of

JSON = "json"  #: the type of values written as JSON, also in tables without types
CHANNELS = "channel_values"  #: the field of a checkpoint with its state
_VERSIONS = "channel_versions"
_OF_ALL = frozenset({"v", "ts", "id"})  #: fields of each checkpoint
#: Maximum size of a packed value, which takes up to ninety times as much memory when it is unpacked.
_MOST_BYTES = 8 * MIB
_MOST_LEVELS = 50  #: maximum number of objects packed in each other
_OBJECTS = range(6)  #: codes of packed objects, by how they are made
_CONTENT = 2  #: the place of the content in a packed object, after the module and the name


def unpacked_checkpoint(kind: Any, packed: Any) -> dict[str, Any]:
    """Return a checkpoint with its state; raises ValueError, TypeError or RecursionError if it cannot be read.

    One that a program has made itself may have neither a state nor versions of channels; its state is empty.
    """
    checkpoint = object_of(unpacked(kind, packed))
    if (
        checkpoint.keys() >= _OF_ALL
        and CHANNELS not in checkpoint
        and not checkpoint.get(_VERSIONS)
    ):
        return {**checkpoint, CHANNELS: {}}
    if type(checkpoint.get(CHANNELS)) is not dict:
        raise ValueError("no state")
    return checkpoint


def unpacked(kind: Any, packed: Any) -> Any:
    """Return what is packed, or written as JSON; raises ValueError, TypeError or RecursionError if it cannot be read."""
    held = packed.encode() if type(packed) is str else packed
    if type(held) is not bytes or len(held) > _MOST_BYTES or kind not in {JSON, "msgpack"}:
        raise ValueError("nothing, too much, or packed in another way")
    return json_in(held) if kind == JSON else _Unpacker().value(held)


class _Unpacker:
    """Reader of packed values, with a limit on objects in objects."""

    def __init__(self) -> None:
        self._level = 0

    def value(self, packed: bytes | memoryview) -> Any:
        """Return what is packed; raises ValueError."""
        return msgspec.msgpack.decode(packed, ext_hook=self._object)

    def _object(self, code: int, packed: memoryview) -> Any:
        if code not in _OBJECTS:
            return None
        if self._level == _MOST_LEVELS:
            raise ValueError("nested too deeply")
        self._level += 1
        held = self.value(packed)
        self._level -= 1
        return held[_CONTENT] if type(held) is list and len(held) > _CONTENT else None
