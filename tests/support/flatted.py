"""JSON as the JavaScript library flatted writes it: each value once, in a list, with references to it."""

from __future__ import annotations

import json
from typing import Any


def flatted(value: Any) -> str:
    """Return a value as flatted writes it; texts that are equal, and an object that is the same, are written once."""
    places: dict[Any, str] = {}
    values: list[Any] = []
    waiting: list[Any] = []

    def place(held: Any) -> Any:
        if not isinstance(held, str | dict | list):
            return held
        key = held if isinstance(held, str) else id(held)
        if key not in places:
            places[key] = str(len(waiting))
            waiting.append(held)
        return places[key]

    place(value)
    for held in waiting:
        if isinstance(held, dict):
            values.append({name: place(each) for name, each in held.items()})
        else:
            values.append(held if isinstance(held, str) else [place(each) for each in held])
    return json.dumps(values)
