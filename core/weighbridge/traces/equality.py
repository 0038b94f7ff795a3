"""Keys for comparing JSON values: two keys are equal exactly if the values are, whatever the order of their fields."""

from __future__ import annotations

from typing import Any

import orjson


def key_of(value: Any) -> bytes:
    """Return a JSON value's key."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer beyond 64 bits, a lone surrogate, or very deep
        return _flat(value).encode()


def _flat(value: Any) -> str:
    """Return a value of any depth in a notation that writes the size of each list and object before its items."""
    parts: list[str] = []
    waiting = [value]
    while waiting:
        held = waiting.pop()
        if type(held) is list:
            parts.append(f"list {len(held)}")
            waiting += held
        elif type(held) is dict:
            parts.append(f"object {len(held)}")
            for name in sorted(held, key=repr):
                waiting += (held[name], name)
        else:
            parts.append(repr(held))
    return "\n".join(parts)
