"""Fields beside the messages of a request in LiteLLM's logs, and in the records that it gives to a logger."""

from __future__ import annotations

from typing import Any, NamedTuple

from weighbridge.traces.chat.call_parts import json_of
from weighbridge.traces.fields import duration_of, object_of, time_after, time_of

COST = "response_cost"
ORIGINAL = "original_response"  #: the provider's answer, as text
_BEGAN, _TOOK = "api_call_start_time", "llm_api_duration_ms"
FIELDS = frozenset({COST, _BEGAN, _TOOK})
#: Keys of the parameters, which may include the tools.
_PARAMETERS = ("model_parameters", "optional_params")


class Times(NamedTuple):
    """When a call began and ended, in nanoseconds since 1970-01-01 UTC."""

    started_at: int | None
    ended_at: int | None


def original_answer(record: dict[str, Any]) -> dict[str, Any]:
    """Return the provider's answer; empty if it is not in JSON."""
    return object_of(json_of(record.get(ORIGINAL)))


def with_tools(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the tools under `tools`, if they stand among the parameters of the request."""
    for key in _PARAMETERS:
        offered = object_of(record.get(key))
        if "tools" in offered and "tools" not in record:
            rest = {name: held for name, held in offered.items() if name != "tools"}
            return {**record, key: rest, "tools": offered["tools"]}
    return record


def times_of_call(record: dict[str, Any]) -> Times | None:
    """Return the times of a record's call; None if the start is not recorded."""
    began, took = time_of(record.get(_BEGAN)), duration_of(record.get(_TOOK))
    if began is None:
        return None
    return Times(began, None if took is None else time_after(began, took / 1_000))
