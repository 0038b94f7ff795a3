"""The known formats that share most keys with a value in no known format, at any depth."""

from __future__ import annotations

import re
from collections import Counter, deque
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.importer import Importer

_VALUES_LIMIT = 2_000  #: objects and arrays examined in a value
_KEYS_LIMIT = 60  #: of one object
_ITEMS_LIMIT = 5  #: of one array
_KEY_CHARACTERS = 40
_FORMATS_NAMED = 2
_KEYS_NAMED = 5
_KEYS_NEEDED = 2  #: in common with a format
_WEIGHT_NEEDED = 0.25  #: of each of these keys: one that no other format has weighs 1
#: Names of fields among the words of a table: paths, and names of several words.
_NAMES = re.compile(
    r"[A-Za-z_]\w*(?:\[\])?(?:\.[A-Za-z_]\w*(?:\[\])?)+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*"
)
#: Words that do not distinguish formats, since any JSON may have them.
_GENERIC = frozenset(
    {
        *(
            "type",
            "value",
            "message",
            "messages",
            "content",
            "text",
            "name",
            "id",
            "status",
            "kind",
        ),
        *("prompt", "completion", "events", "parts", "version", "results", "input", "output"),
        *("data", "error", "model", "timestamp", "command", "created", "source", "role", "total"),
    }
)
_PARTS = re.compile(r"\w+")


def similar_formats(value: Any, importers: Sequence[Importer]) -> str:
    """Return a hint that names the formats sharing most keys with a value, and these keys; empty if there are none."""
    keys = _keys_in(value)
    if not keys:
        return ""
    found = []
    for importer, words in _vocabularies(tuple(importers)):
        common = [key for key in keys if words.get(key, 0) >= _WEIGHT_NEEDED]
        common.sort(key=lambda key: (-words[key], key))
        if len(common) >= _KEYS_NEEDED:
            found.append((sum(words[key] for key in common), importer.name, common))
    found.sort(key=lambda entry: -entry[0])
    recorded = [
        f"{name} (keys in common: {', '.join(common[:_KEYS_NAMED])})"
        for _, name, common in found[:_FORMATS_NAMED]
    ]
    return f"the most similar known formats: {', '.join(recorded)}" if recorded else ""


def _keys_in(value: Any) -> set[str]:
    keys: set[str] = set()
    pending = deque([value])
    for _ in range(_VALUES_LIMIT):
        if not pending:
            break
        held = pending.popleft()
        if type(held) is dict:
            for key, item in islice(held.items(), _KEYS_LIMIT):
                if type(key) is str and len(key) <= _KEY_CHARACTERS:
                    keys.add(key)
                if type(item) is dict or type(item) is list:
                    pending.append(item)
        elif type(held) is list:
            pending.extend(item for item in held[:_ITEMS_LIMIT] if type(item) in {dict, list})
    return keys


@lru_cache(maxsize=4)
def _vocabularies(importers: tuple[Importer, ...]) -> list[tuple[Importer, dict[str, float]]]:
    """Return the words of each format's table of fields, each with a weight: the fewer formats have it, the more."""
    listed = [
        (
            importer,
            {
                word
                for _, theirs in importer.fields
                for name in _NAMES.findall(theirs)
                for word in _PARTS.findall(name)
                if word not in _GENERIC
            },
        )
        for importer in importers
    ]
    counts = Counter(word for _, words in listed for word in words)
    return [(importer, {word: 1 / counts[word] for word in words}) for importer, words in listed]
