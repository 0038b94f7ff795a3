"""The known formats that share most keys with a value in no known format, at any depth."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.importer import Importer

_VALUES_LIMIT = 2_000  #: objects and arrays examined in a value
_KEYS_LIMIT = 60  #: maximum number of keys examined in one object
_ITEMS_LIMIT = 5  #: maximum number of items examined in one array
_KEY_CHARACTERS = 40
_FORMATS_NAMED = 2
_KEYS_NAMED = 5
_KEYS_NEEDED = 3  #: minimum number of keys in common with a format
#: Maximum number of formats that have a key; its weight is 1 divided by their number.
_USERS_LIMIT = 4
#: Names of fields among the words of a table: paths, and names of several words.
_NAMES = re.compile(
    r"[A-Za-z_]\w*(?:\[\])?(?:\.[A-Za-z_]\w*(?:\[\])?)+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*"
)
#: Words that do not distinguish formats, since any JSON, log or set of spans may have them; in lower case, without `_`.
_GENERIC = frozenset(
    {
        *("type", "value", "message", "messages", "content", "text", "name", "id", "status"),
        *("kind", "prompt", "completion", "events", "parts", "version", "results", "input"),
        *("output", "data", "error", "model", "timestamp", "command", "created", "source"),
        *("role", "total", "traceid", "spanid", "parentspanid", "parentid", "sessionid"),
        *("threadid", "requestid", "startedat", "endedat", "completedat", "createdat"),
        *("starttime", "endtime", "attributes", "arguments", "inputs", "outputs", "request"),
        *("response", "user", "usermessage", "agentresponse", "action", "actions", "body"),
        *("config", "context", "end", "eval", "hit", "properties", "step", "task", "turn"),
        *("cachedtokens", "completiontokens", "prompttokens", "finalanswer", "totalsteps"),
        *("availabletools", "totalcostusd", "cachecreation", "servertooluse"),
    }
)
_PARTS = re.compile(r"\w+")


def similar_formats(value: Any, importers: Sequence[Importer]) -> str:
    """Return a hint that names the formats sharing most keys with a value, and these keys; empty if there are none."""
    keys = _keys_in(value)
    if not keys:
        return ""
    users = _users_of_words(tuple(importers))
    weights = {key: 1 / len(users[key]) for key in keys if key in users}
    by_importer: defaultdict[int, list[str]] = defaultdict(list)
    for key in sorted(weights, key=lambda key: (-weights[key], key)):
        for number in users[key]:
            by_importer[number].append(key)
    found = [
        (-sum(weights[key] for key in common), number, common)
        for number, common in by_importer.items()
        if len(common) >= _KEYS_NEEDED
    ]
    recorded = [
        f"{importers[number].name} (keys in common: {', '.join(common[:_KEYS_NAMED])})"
        for _, number, common in nsmallest(_FORMATS_NAMED, found)
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
def _users_of_words(importers: tuple[Importer, ...]) -> dict[str, list[int]]:
    """Return the words that only few formats have in their tables of fields, each with the indices of these formats."""
    users: defaultdict[str, list[int]] = defaultdict(list)
    for number, importer in enumerate(importers):
        names = [name for _, theirs in importer.fields for name in _NAMES.findall(theirs)]
        for word in {word for name in names for word in _PARTS.findall(name)}:
            if word.replace("_", "").lower() not in _GENERIC:
                users[word].append(number)
    return {word: numbers for word, numbers in users.items() if len(numbers) <= _USERS_LIMIT}
